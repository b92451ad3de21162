"""Good STARQL texts, one construct after the other, for tests that break them."""

RISING = """\
PREFIX : <http://example.org/turbines#>
CREATE PULSE pulseA WITH
START = "2026-07-04T06:21:58CEST"^^XSD:DATETIME,
END = "2026-07-04T15:11:15CEST"^^xsd:dateTime,
FREQUENCY = "PT1M"^^XSD:DURATION

CREATE STREAM rising AS
CONSTRUCT GRAPH NOW { ?s a :Rising }
FROM STREAM temperature [NOW - "PT10M"^^XSD:DURATION, NOW] -> "PT1M"^^XSD:DURATION
USING PULSE pulseA
SEQUENCE BY StdSeq AS seq
HAVING FORALL i, j IN seq ?x, ?y (
IF ((GRAPH i { ?s :value ?x } AND GRAPH j { ?s :value ?y }) AND i < j)
THEN ?x <= ?y)
"""

GROUPED = """\
PREFIX : <http://example.org/turbines#>
PREFIX ex: <http://example.org/>
CREATE STREAM means AS
SELECT { ?a MAX(?x) AS ?max (MAX(?x) - AVG(?x)) AS ?diff }
FROM STREAM temperature [NOW - "PT1H"^^xsd:duration, NOW] -> "PT10M"^^xsd:duration
STATIC DATA <http://example.org/plant>
ONTOLOGY <http://example.org/ontology>
USING PULSE WITH START = "2026-01-01T00:00:00CET"^^xsd:dateTime, FREQUENCY = "PT10M"^^xsd:duration
WHERE { ?s ex:partOf ?a .
  ?a a :Assembly .
  ?a :limit ?l FILTER (?l > 5) }
SEQUENCE BY StdSeq AS seq
HAVING EXISTS i IN seq (GRAPH i { ?s :value ?x })
GROUP BY ?a
HAVING AGGREGATE (AVG(?x) + 6) < MAX(?x)
"""

FAILING = """\
PREFIX : <http://example.org/turbines#>
CREATE PULSE tick WITH
START = "2026-07-04T06:21:58MEZ"^^xsd:dateTime,
FREQUENCY = "PT5S"^^xsd:duration
CREATE STREAM failing AS
SELECT DISTINCT { ?s ?y }
FROM STREAM vibration [NOW - "PT5M"^^xsd:duration, NOW] -> "PT30S"^^xsd:duration,
  events [NOW - "PT5M"^^xsd:duration, NOW] -> "PT30S"^^xsd:duration
USING PULSE tick
WHERE { ?s a :VibrationSensor .
  ?s :mountedAt ?t }
SEQUENCE BY StdSeq AS states
HAVING EXISTS i, j IN states (
  GRAPH i { ?s :value ?y }
  AND ?y > 90
  AND GRAPH j { ?t a :ShutDown }
  AND i < j
  AND NOT EXISTS k IN states (GRAPH k { ?t a :Tested } AND k > i)
)
"""

CHAINED = """\
PREFIX : <http://example.org/turbines#>
CREATE PULSE slow WITH
START = "2026-07-04T06:21:58UTC"^^xsd:dateTime,
FREQUENCY = "PT1H"^^xsd:duration
CREATE AGGREGATE above ($s, $p) AS
  EXISTS i IN seq ?x (
    GRAPH i { $s $p ?x }
    AND ?x >= 90)
CREATE STREAM hot AS
CONSTRUCT GRAPH NOW { ?s a :Hot }
FROM STREAM temperature [NOW - "PT10M"^^xsd:duration, NOW] -> "PT1M"^^xsd:duration
USING PULSE slow
WHERE { ?s a :TemperatureSensor }
SEQUENCE BY StdSeq AS seq
HAVING above(?s, :value) OR above(?s, :peak)
CREATE STREAM twice AS
SELECT { ?s }
FROM STREAM hot
SEQUENCE BY StdSeq AS hots
HAVING EXISTS i, j IN hots (
  GRAPH i { ?s a :Hot }
  AND GRAPH j { ?s a :Hot }
  AND i < j)
"""

CORPUS = (RISING, GROUPED, FAILING, CHAINED)
