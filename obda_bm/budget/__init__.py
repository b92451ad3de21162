"""When a query is not bounded: joining and caching within a memory budget ([X]).

`models` and `autoregressive` say what streams will do, `fitting` and `online` learn it; `benefit`,
`survival` and `index` turn that into a rank for each tuple; `policies` keep the best; `join` and
`caching` simulate them, `extremes` and `store` run them; `flow` and `lagrangian` are the ceilings,
and `recall` says what was lost.
"""
