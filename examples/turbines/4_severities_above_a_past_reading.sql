-- Severities of alarms whose threshold was above some power reading of the past: one minimum suffices.
SELECT DISTINCT a.severity
FROM power p, alarm a
WHERE p.ts < a.ts AND p.kilowatt < a.threshold
