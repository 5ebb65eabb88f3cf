"""One HTML page with everything inside: text, styles and pictures."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

import sordino
from sordino.demo.plots import Figure, figures
from sordino.demo.questions import Answer, text_of

_STYLE = """
:root { color-scheme: light dark; --text: #1f2430; --soft: #5b6472; --page: #fbfbf9; --card: #ffffff; --line: #e1e4ea;
  --good: #11734b; --bad: #b3402a; --even: #7a6200; --accent: #0b6e99; }
@media (prefers-color-scheme: dark) { :root { --text: #e6e8ee; --soft: #a3adbb; --page: #14171d; --card: #1b1f27;
  --line: #2f3643; --good: #5fd3a0; --bad: #ff8a70; --even: #f2c14e; --accent: #5cc3ee; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); font: 17px/1.55 system-ui, "Segoe UI", Roboto,
  "Helvetica Neue", Arial, sans-serif; }
main { max-width: 1080px; margin: 0 auto; padding: 3rem 1.5rem 4rem; }
h1 { font-size: 2.1rem; line-height: 1.2; margin: 0 0 .6rem; letter-spacing: -.01em; }
h2 { font-size: 1.35rem; margin: 3rem 0 .8rem; }
h3 { font-size: 1.05rem; margin: 0 0 .4rem; }
p { max-width: 46em; margin: .5rem 0; }
.soft, figcaption, .how { color: var(--soft); }
.notice { border-left: 4px solid var(--accent); padding: .1rem 0 .1rem 1rem; margin: 1.4rem 0; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .95rem; }
th { text-align: left; font-weight: 600; color: var(--soft); font-size: .85rem; border-bottom: 2px solid var(--line); }
th, td { padding: .6rem .7rem; vertical-align: top; }
td { border-bottom: 1px solid var(--line); }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.how { display: block; font-size: .82rem; white-space: normal; }
.number .how { min-width: 8.5rem; }
td:first-child { min-width: 15rem; }
.asked { display: block; font-size: .8rem; margin: .3rem 0; overflow-wrap: anywhere; }
.answer { font-weight: 650; }
.smaller { color: var(--good); font-weight: 600; } .larger { color: var(--bad); font-weight: 600; }
.same { color: var(--even); font-weight: 600; }
.pictures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 460px), 1fr)); gap: 1.4rem; }
figure { margin: 0; background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 1.1rem; }
figure img { width: 100%; height: auto; display: block; }
figcaption { font-size: .88rem; margin-top: .5rem; }
ol { padding-left: 1.4rem; } li { margin: .5rem 0; max-width: 60em; }
footer { margin-top: 3rem; color: var(--soft); font-size: .85rem; }
"""


def html_report(answers: list[Answer], epsilon: float) -> str:
    """The whole page; it refers to nothing outside itself."""
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sordino: private answers on public data</title>
<style>{_STYLE}</style>
</head>
<body>
<main>
<h1>Private answers on public data</h1>
<p>Sordino answers questions under differential privacy with noise that follows the data at hand, not the worst case
over all data. Each answer below spends ε&nbsp;=&nbsp;{epsilon:g}. Beside its error stands that of the usual mechanism
at the same&nbsp;ε, named in each row.</p>
<p class="notice">The exact answers and errors are shown because the demo's data are public. On private data they are
confidential: only the private answer and its guarantee may leave.</p>

<h2>Questions</h2>
<div class="scroll"><table>
<thead><tr><th>Question</th><th class="number">Private answer</th><th class="number">Exact</th>
<th class="number">Error, Sordino</th><th class="number">Error, usual mechanism</th>
<th class="number">Sordino’s error is</th></tr></thead>
<tbody>
{_lines(_row(answer) for answer in answers)}
</tbody></table></div>

<h2>Pictures</h2>
<div class="pictures">
{_lines(_picture(figure) for figure in figures(epsilon))}
</div>

<h2>Guarantees</h2>
<p class="soft">Answers about the same data add up: two questions at ε cost 2ε.</p>
<ol>
{_lines(_guarantee(answer) for answer in answers)}
</ol>
<footer>Made by sordino {escape(sordino.__version__)} with <code>sordino demo --epsilon {epsilon:g}</code>. The private
answers are drawn anew in every run.</footer>
</main>
</body>
</html>
"""


def _lines(parts: Iterable[str]) -> str:
    return "\n".join(parts)


def _row(answer: Answer) -> str:
    kind = answer.verdict.split()[-1]
    sql = f'<code class="asked">{escape(answer.sql)}</code>' if answer.sql else ""
    return (
        f"<tr><td>{escape(answer.question)}{sql}"
        f'<span class="how">{escape(answer.data)}</span></td>'
        f'<td class="number answer">{escape(text_of(answer.answer))}</td>'
        f'<td class="number">{escape(text_of(answer.exact))}</td>'
        f'<td class="number">{answer.shown(answer.error)}<span class="how">{escape(answer.mechanism)}</span>'
        f'<span class="how">({escape(answer.measure)})</span></td>'
        f'<td class="number">{answer.shown(answer.baseline_error)}'
        f'<span class="how">compared with: {escape(answer.baseline)}</span></td>'
        f'<td class="number {kind}">{escape(answer.verdict)}</td></tr>'
    )


def _picture(figure: Figure) -> str:
    return (
        f"<figure><h3>{escape(figure.title)}</h3><picture>"
        f'<source media="(prefers-color-scheme: dark)" srcset="{figure.dark}">'
        f'<img src="{figure.light}" alt="{escape(figure.title)}. {escape(figure.caption)}"></picture>'
        f"<figcaption>{escape(figure.caption)}</figcaption></figure>"
    )


def _guarantee(answer: Answer) -> str:
    remark = f'<br><span class="soft">{escape(answer.remark)}</span>' if answer.remark else ""
    return f"<li><strong>{escape(answer.question)}</strong> {escape(str(answer.guarantee))}.{remark}</li>"
