"""Waits, acts of the user, and a screen without a way back, on a device and on the map: `PageTests` has the flow."""

import re

from page import check_access, device, drag, expect, messages, open_page, screenshot, show, step

with open_page() as page:
    show(page, "#/?devices=hotel:default")
    hotel = device(page, "Device hotel")
    rooms = hotel.get_by_role("group", name="Rooms")
    expect(rooms).to_be_visible()

    # The screen has no back button, and a swipe from the edge does not begin.
    mark = step("end")
    rooms.get_by_role("button", name="PaymentWanted").click()
    payment = hotel.get_by_role("group", name="Payment")
    expect(payment.get_by_role("button", name="Paid")).to_be_enabled()
    expect(payment.get_by_role("button", name=re.compile("^Back"))).to_have_count(0)
    with drag(page, payment, (8, 0.5)) as move:
        move(250, 0)
        expect(rooms).to_be_hidden()
    check_access(page, "a screen without a way back")
    screenshot(page, "acts-1-payment")

    # The button sends its command and opens a screen, from which the user goes back to another tab.
    payment.get_by_role("button", name="Paid").click()
    hotel.get_by_role("alertdialog").get_by_role("button", name="One more night").click()
    note = hotel.get_by_role("group", name="Note")
    note.get_by_role("button", name="Back to Rooms").click()
    bar = hotel.get_by_role("tab", name="Bar")
    expect(bar).to_have_attribute("aria-selected", "true")
    expect(hotel.get_by_role("dialog")).to_have_count(0)
    # A tap on the selected tab.
    bar.click()
    expect(hotel.get_by_role("dialog").get_by_role("group", name="Note")).to_be_visible()
    told = [(row["type"], row["data"]) for row in messages(mark, "command.Back command.Tab command.Extended")]
    assert [kind for kind, _ in told] == ["command.Extended", "command.BackCompleted", "command.TabSelected"], told
    assert told[0][1] == {"nights": 1}, told

    show(page, "#/map")
    arrows = page.get_by_role("region", name="Flow of hotel", exact=True)
    for name in (
        "after 100ms, from welcome to lobby", "Extended, from extra to note, button One more night, push",
        "user went back, from note to bar, selectTab, tab bar", "user tapped tab, from anywhere to note",
        "Link hotel://note, from anywhere to welcome, [otherwise]",
    ):
        expect(arrows.get_by_role("button", name=name).first).to_be_attached()
    screenshot(page, "acts-2-map")
