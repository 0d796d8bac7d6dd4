# SPDX-License-Identifier: GPL-2.0-only
"""SQLAlchemy: a query for each author of a list, beside one query for all: library.py SECONDS."""
import sys

import sqlalchemy
from sqlalchemy import orm

from account import spent, turns, write

Base = orm.declarative_base()


class Author(Base):
    __tablename__ = "author"
    id = sqlalchemy.Column(sqlalchemy.Integer, primary_key=True)
    name = sqlalchemy.Column(sqlalchemy.String)
    books = orm.relationship("Book")


class Book(Base):
    __tablename__ = "book"
    id = sqlalchemy.Column(sqlalchemy.Integer, primary_key=True)
    author_id = sqlalchemy.Column(sqlalchemy.Integer, sqlalchemy.ForeignKey("author.id"), index=True)
    title = sqlalchemy.Column(sqlalchemy.String)


def one_by_one(session):
    with spent("one_by_one"):
        return [len(author.books) for author in session.query(Author)]  # below


def together(session):
    with spent("together"):
        return [len(author.books) for author in session.query(Author).options(orm.selectinload(Author.books))]


def main(seconds):
    engine = sqlalchemy.create_engine("sqlite://")
    Base.metadata.create_all(engine)
    with orm.Session(engine) as session:
        session.add_all([Author(name=f"a{n}", books=[Book(title=f"b{n}-{m}") for m in range(4)]) for n in range(40)])
        session.commit()
    for turn in turns(seconds):
        for read in one_by_one, together:
            with orm.Session(engine) as session:
                read(session)


main(float(sys.argv[1]))
write()
