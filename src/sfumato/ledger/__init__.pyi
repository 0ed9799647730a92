from .accounts import Account
from .checklists import checklist_of, keep_checklist
from .ledger import Ledger
from .periods import Period
from .permit import Permit
from .published import registry_entry, release_table, releases_of
from .register.register import Register
from .requests import Decision, Request, ask_for_share, decide_on, requests
from .signing import new_signing_key, public_key
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
