import unittest

from app import Todos


class TodosTest(unittest.TestCase):
    def test_add_and_finish(self):
        todos = Todos()
        item = todos.add("water the plants")
        self.assertFalse(item["done"])
        self.assertTrue(todos.finish(item["id"])["done"])
        self.assertIsNone(todos.finish(99))


if __name__ == "__main__":
    unittest.main()
