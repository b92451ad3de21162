-- Power, then wind; later a demand above that power and a threshold above that wind.
-- Theorem 2 of [S] calls this bounded. It is not.
SELECT DISTINCT 1 AS found
FROM power p, wind w, demand d, alarm a
WHERE p.ts < w.ts AND w.ts < d.ts AND w.ts < a.ts
  AND p.kilowatt < d.kilowatt AND w.speed < a.threshold
