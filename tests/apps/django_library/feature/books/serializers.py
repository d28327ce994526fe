from rest_framework import serializers

from .models import Author, Book


class AuthorSerializer(serializers.ModelSerializer):
    class Meta:
        model = Author
        fields = ["id", "name"]


class BookSerializer(serializers.ModelSerializer):
    class Meta:
        model = Book
        fields = ["id", "title", "year", "isbn", "author"]

    def validate_isbn(self, value):
        if value and not (value.isdigit() and len(value) in (10, 13)):
            raise serializers.ValidationError("an ISBN has 10 or 13 digits")
        return value
