from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("books", "0001_initial")]

    operations = [
        migrations.AddField(
            model_name="book",
            name="isbn",
            field=models.CharField(blank=True, default="", max_length=13),
        ),
    ]
