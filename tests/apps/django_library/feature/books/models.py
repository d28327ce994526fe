from django.db import models


class Author(models.Model):
    name = models.CharField(max_length=200, unique=True)


class Book(models.Model):
    title = models.CharField(max_length=200)
    year = models.PositiveIntegerField()
    isbn = models.CharField(max_length=13, blank=True, default="")
    author = models.ForeignKey(Author, on_delete=models.CASCADE, related_name="books")
