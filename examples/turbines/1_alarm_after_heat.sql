-- Alarms that follow an overheating of the same sensor, for sensors we know.
SELECT a.sensor, a.severity
FROM temperature t, alarm a, sensor s
WHERE t.value > 90 AND t.ts < a.ts
  AND t.sensor = s.id AND a.sensor = s.id
