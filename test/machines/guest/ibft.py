#!/usr/bin/env python3
"""Writes an iSCSI Boot Firmware Table (version 1.02) without its first 36 bytes, the ACPI header, which QEMU adds.

usage: ibft.py OUT TARGET-ADDRESS PORT TARGET-NAME OWN-ADDRESS OWN-MAC
"""
import ipaddress
import struct
import sys


def main(out, address, port, name, own, mac):
    initiator = b"iqn.2026-01.example:host"
    control, first, nic, target, names = 48, 72, 152, 256, 320

    def v4(text):
        return ipaddress.IPv6Address("::ffff:" + text).packed

    table = bytearray(names + 256)
    struct.pack_into("<BBHBBHHHHHH", table, control, 1, 1, 18, 0, 0, 0, first, nic, target, 0, 0)
    struct.pack_into("<BBHBB64sHH", table, first, 2, 1, 74, 0, 3, bytes(64), len(initiator), names)
    struct.pack_into("<BBHBB16sBB16s48sH6sHHH", table, nic, 3, 1, 102, 0, 3, v4(own), 24, 1, v4(address), bytes(48), 0,
                     bytes.fromhex(mac), 0x10, 0, 0)
    struct.pack_into("<BBHBB16sH8sBBHHHHHHHH", table, target, 4, 1, 54, 0, 3, v4(address), int(port),
                     bytes([0, 1, 0, 0, 0, 0, 0, 0]), 0, 0, len(name), names + 64, 0, 0, 0, 0, 0, 0)
    table[names:names + len(initiator)] = initiator
    table[names + 64:names + 64 + len(name)] = name.encode()
    with open(out, "wb") as f:
        f.write(table[36:])


main(*sys.argv[1:])
