-- Any sensor, but the alarm must come within five minutes.
SELECT a.sensor, a.severity
FROM temperature t, alarm a
WHERE t.value > 90 AND t.sensor = a.sensor
  AND a.ts BETWEEN t.ts AND t.ts + INTERVAL '5' MINUTE
