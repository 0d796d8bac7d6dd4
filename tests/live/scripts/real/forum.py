# SPDX-License-Identifier: GPL-2.0-only
"""Django: requests through its handler, of pages that a template makes: forum.py SECONDS."""
import sys

import django
from django.conf import settings

settings.configure(ALLOWED_HOSTS=["*"], ROOT_URLCONF=__name__, LOGGING_CONFIG=None, SECRET_KEY="none",
                   MIDDLEWARE=["django.middleware.common.CommonMiddleware"],
                   TEMPLATES=[{"BACKEND": "django.template.backends.django.DjangoTemplates"}])
django.setup()

from django.http import HttpResponse  # noqa: E402
from django.template import engines  # noqa: E402
from django.test import Client  # noqa: E402
from django.urls import path  # noqa: E402

from account import spent, turns, write  # noqa: E402

POSTS = [{"who": f"user {n % 17}", "text": f"words {n * 7919 % 1009} & more", "votes": n * 104729 % 997} for n in range(200)]
PAGE = engines["django"].from_string(
    "{% for post in posts %}<p>{{ forloop.counter }} {{ post.who|title }}: {{ post.text|truncatechars:12 }}"
    "{% if post.votes > 500 %} <b>{{ post.votes }}</b>{% endif %}{% endfor %}")


def rank(posts):
    with spent("rank"):
        return sorted(posts, key=lambda post: (-post["votes"], post["who"].lower()))


def render(posts):
    with spent("render"):
        return PAGE.render({"posts": posts})  # below


def thread(request, length):
    return HttpResponse(render(rank(POSTS)[:length]))


urlpatterns = [path("thread/<int:length>", thread)]
client = Client()
for turn in turns(float(sys.argv[1])):
    assert client.get(f"/thread/{20 + turn * 79 % 150}").status_code == 200
write()
