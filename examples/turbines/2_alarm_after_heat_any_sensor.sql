-- The same for any sensor: now every sensor that ever overheated has to be remembered.
SELECT a.sensor, a.severity
FROM temperature t, alarm a
WHERE t.value > 90 AND t.ts < a.ts
  AND t.sensor = a.sensor
