"""Repeat the papers' figures: CSV and PNG in results/reproduce, tables and pictures into docs/benchmarks/."""

from __future__ import annotations

import time

import data
import forest_defaults
import forest_figure_10
import graph_data
import graph_default
import graph_figure_8
import graph_figure_10
import graph_levels
import graph_scale
import graph_table_1
import ld_figure_7
import ld_figure_9
import readme_picture
import snm_figure_7
import tree_data
import tree_defaults
import tree_figures


def main() -> None:
    figures = [("the README's picture", readme_picture.main), ("local dampening, Fig. 7", ld_figure_7.main)]
    if data.data_file() is None:
        print(
            f"skipping local dampening Fig. 9 and smooth noisy max Fig. 7: {data.FILE} is not there\n"
            "(looked in ../shared/data beside the repository; set SORDINO_DATA to the folder that holds it)"
        )
    else:
        figures += [
            ("local dampening, Fig. 9", ld_figure_9.main),
            ("smooth noisy max, Fig. 7", snm_figure_7.main),
        ]
    if graph_data.folder() is None:
        print(
            f"skipping the graphs (local dampening Fig. 8, Fig. 10 and Table 1, instance-based noise Ex. 22 and 23): "
            f"{graph_data.FOLDER}/ does not hold {', '.join(graph_data.FILES.values())}\n"
            "(looked in ../shared/data beside the repository; set SORDINO_DATA to the folder that holds it)"
        )
    else:
        figures += [
            ("local dampening, Fig. 8", graph_figure_8.main),
            ("local dampening, Fig. 10", graph_figure_10.main),
            ("degree or brokerage?", graph_default.main),
            ("local dampening, Table 1", graph_table_1.main),
            ("instance-based noise, Examples 22 and 23", graph_levels.main),
        ]
    figures.append(("a graph of DBLP's size", graph_scale.main))
    if tree_data.folder() is None:
        print(
            f"trees and forests on scikit-learn's tables only: {tree_data.ADULT} and {tree_data.NLTCS} are not there\n"
            "(looked in ../shared/data beside the repository; set SORDINO_DATA to the folder that holds them)"
        )
    figures += [
        ("local dampening, Fig. 11, and smooth noisy max, Fig. 9", tree_figures.main),
        ("smooth noisy max, Fig. 10", forest_figure_10.main),
        ("a tree's defaults", tree_defaults.main),
        ("a forest's defaults", forest_defaults.main),
    ]
    for title, figure in figures:
        start = time.perf_counter()
        print(f"\n== {title}", flush=True)
        figure()
        print(f"   ({time.perf_counter() - start:.0f} s)")
    print(
        "\nwritten: results/reproduce/*.csv, *.png, docs/img/*.png tables of docs/benchmarks/reproduction*.md"
    )


if __name__ == "__main__":
    main()
