"""Tables in the files of tau-ARGUS and of the cell suppression collections.

Microdata of tau-ARGUS (``.asc`` with ``.rda``) are read with `tacit.read`, hierarchies (``.hrc``)
with `tacit.read_hierarchy`.
"""

from tacit.io.argus.apriori import apply_apriori as apply_apriori
from tacit.io.argus.apriori import apriori_of as apriori_of
from tacit.io.argus.apriori import write_apriori as write_apriori
from tacit.io.argus.castro import read_castro as read_castro
from tacit.io.argus.jj import read_jj as read_jj
from tacit.io.argus.jj import write_jj as write_jj
from tacit.io.argus.ready_table import read_table as read_table
from tacit.io.argus.ready_table import write_table as write_table
