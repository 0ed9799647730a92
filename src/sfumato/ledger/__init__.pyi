from .accounts import Account
from .book import Ledger
from .checklists import checklist_of, keep_checklist
from .periods import Period
from .permit import Permit
from .register import Register
from .requests import Decision, Request, ask_for_share, decide_on, requests
from .signing import new_signing_key, public_key
from .tables import registry_entry, release_table, releases_of
from .verify import Fault, Verdict

__all__ = [
    "Account",
    "Decision",
    "Fault",
    "Ledger",
    "Period",
    "Permit",
    "Register",
    "Request",
    "Verdict",
    "ask_for_share",
    "checklist_of",
    "decide_on",
    "keep_checklist",
    "new_signing_key",
    "public_key",
    "registry_entry",
    "release_table",
    "releases_of",
    "requests",
]
