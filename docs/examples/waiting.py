"""Fetches pages and stores them. fetch() waits for a server, store() for the other threads."""
import threading
import time

lock = threading.Lock()
pages = []


def fetch(number):
    time.sleep(0.01)
    return f"page {number}"


def store(page):
    with lock:
        pages.append(page)
        time.sleep(0.002)


def work(numbers):
    for number in numbers:
        store(fetch(number))


threads = [threading.Thread(target=work, args=(range(first, 800, 8),)) for first in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
