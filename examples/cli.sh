#!/usr/bin/env bash
# From a confidential file to a protected one, on the command line. Run it anywhere:
#   bash examples/cli.sh [FOLDER]
set -euo pipefail
cd "$(mktemp -d "${1:-${TMPDIR:-/tmp}}/tacit-example-XXXXXX")"

# Ten patients (the running example of TFB, Appendix A).
cat > patients.csv <<'CSV'
Name,SSN,Age,State,Diagnosis,Income,Billing
John Wayne,123456789,44,MI,AIDS,45500,1200
Mary Gore,323232323,44,MI,Asthma,37900,2500
John Banks,232345656,55,MI,AIDS,67000,3000
Jesse Casey,333333333,44,MI,Asthma,21000,1000
Jack Stone,444444444,55,MI,Asthma,90000,900
Mike Kopi,666666666,45,MI,Diabetes,48000,750
Angela Simms,777777777,25,IN,Diabetes,49000,1200
Nike Wood,888888888,35,MI,AIDS,66000,2200
Mikhail Aaron,999999999,55,MI,AIDS,69000,4200
Sam Pall,100000000,45,MI,Tuberculosis,34000,3100
CSV

# What is in the file, and what may the columns mean? The proposal goes to schema.toml.
tacit inspect patients.csv --save-schema schema.toml

# How does a method work?
tacit methods mdav

# Protect: the proposal is taken as it is, one correction comes from the command line.
tacit apply patients.csv -o release --schema schema.toml --non-confidential State \
  --step "mdav columns=Age k=3" --step "round columns=Income base=1000" --seed 7

# Measure again, from the files alone; once more for a program.
tacit measure patients.csv release
tacit measure patients.csv release --measure "k-anonymity keys=Age k=3" --json

# Make the release again: the same, bit for bit.
tacit replay release/dossier

# A mistake is one line and exit code 2.
if tacit apply patients.csv -o other --key Age --step "mdva columns=Age"; then exit 1; fi
