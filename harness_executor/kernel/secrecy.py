"""Which files look like secrets by their name?"""

from collections.abc import Iterable

from harness_executor.kernel.paths import folded, matches

SECRET = (
    *(".env", ".env.*", "*.pem", "*.key", "*.ppk", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx"),
    *("id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", ".netrc", "_netrc", ".pgpass", ".htpasswd"),
    *("credentials.json", "service-account*.json", "service_account*.json", ".git-credentials", ".pypirc"),
    *(".vault-token", ".aws/", ".ssh/", ".gnupg/", "*.tfstate", "*.tfstate.backup"),
)
"""Files that are kept back from models."""

PUBLIC = (
    *(".env*.example", ".env*.sample", ".env*.template", ".env*.dist", ".env*.defaults"),
    *("id_*.pub", "*.key.pub"),
)
"""Files of such names that are there to be read."""


def is_secret(path: str, allowed: Iterable[str] = ()) -> bool:
    """Is a file kept back, unless the user allows its very path?"""
    parts = folded(path)
    if any(matches(parts, name) for name in PUBLIC) or not any(matches(parts, name) for name in SECRET):
        return False
    exact = tuple(path.split("/"))
    return not any(matches(exact, f"/{pattern.removeprefix('/')}") for pattern in allowed)
