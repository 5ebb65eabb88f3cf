"""Release a median: bounds, step and budget are public; the values are not."""

import sordino as sd

salaries = [31_000 + 130 * (i * 7919 % 401) for i in range(500)]
public = {"bounds": (0, 200_000), "step": 100, "epsilon": 0.5}

release = sd.quantile(salaries, 0.5, **public)
print("median salary:", release.value)
print("guarantee:    ", release.guarantee)

# What was not paid for stays in a Secret that only the owner opens.
print("details:      ", release.details)
print("owner's view: ", release.details.reveal())

# Data outside the declared bounds are an error that shows no values, unless clipping is asked for.
try:
    sd.quantile([*salaries, 10**7], 0.5, **public)
except sd.PrivateDataError as error:
    print("refused:      ", error)
