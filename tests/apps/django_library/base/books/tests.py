from rest_framework.test import APITestCase

from .models import Author


class BookTests(APITestCase):
    def test_create(self):
        author = Author.objects.create(name="Le Guin")
        answer = self.client.post("/api/books/", {"title": "The Dispossessed", "year": 1974, "author": author.id})
        self.assertEqual(answer.status_code, 201)
