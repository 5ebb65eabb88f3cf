"""Ask SQL: a join count over private tables, paid from an analyst's budget; and what the owner sees beside it."""

import pyarrow as pa

import sordino as sd

cities = ["Rome", "Oslo", "Lima"]
orders = pa.table({"id": range(400), "city": [cities[i % 3] for i in range(400)]})
items = pa.table({"order_id": [i * 7 % 400 for i in range(2000)]})

# Everything that carries the guarantee is public and said beforehand; nothing of it is read from rows.
groups = {"columns": {"city": {"domain": [*cities, "Bonn"]}}}
tables, budgets = {"orders": groups, "items": {}}, {"ann": {"epsilon": 3}}
policy = {"version": 1, "dataset": "shop", "tables": tables, "budgets": budgets}
join = "SELECT COUNT(*) FROM orders JOIN items ON orders.id = items.order_id"

with sd.connect({"orders": orders, "items": items}, policy=policy) as curator:
    ann = curator.session("ann")
    release = ann.query(join, epsilon=1.0, error_share=0.2)
    print("items ordered:", release.value, "±", release.error)
    print("guarantee:    ", release.guarantee)
    print(
        "per city:     ", ann.query("SELECT city, COUNT(*) AS n FROM orders GROUP BY city", epsilon=0.5).value
    )
    print("budget:       ", ann.budget())

    # For the owner alone: exact answer, bounds and noise. It is a Secret, and it spends nothing.
    facts = curator.explain(join, epsilon=1.0).reveal()
    print("owner's view: ", facts["exact"], "exactly; noise at 95 %:", facts["numbers"][0]["error"]["95%"])
