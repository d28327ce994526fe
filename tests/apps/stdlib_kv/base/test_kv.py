import json
import tempfile
import unittest
from pathlib import Path

from kv import Store


class StoreTest(unittest.TestCase):
    def test_what_is_saved_is_loaded(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "data.json")
            store = Store(path)
            store.data["a"] = "1"
            store.save()
            self.assertEqual(json.loads(path.read_text()), {"a": "1"})


if __name__ == "__main__":
    unittest.main()
