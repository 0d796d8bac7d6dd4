# SPDX-License-Identifier: GPL-2.0-only
"""networkx: ways through a network, and how central its places are: routes.py SECONDS."""
import sys

import networkx

from account import spent, turns, write

GRAPH = networkx.grid_2d_graph(14, 14)


def central(graph):
    with spent("central"):
        return networkx.betweenness_centrality(graph)  # below


def shortest(graph):
    with spent("shortest"):
        return networkx.dijkstra_path_length(graph, (0, 0), (13, 13))


def parts(graph):
    with spent("parts"):
        return list(networkx.biconnected_components(graph))


for turn in turns(float(sys.argv[1])):
    central(GRAPH), shortest(GRAPH), parts(GRAPH)
write()
