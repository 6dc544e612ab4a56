"""The whole story of the focus player, on both platforms."""

from page import check_access, device, expect, open_page, open_tab, screenshot

with open_page() as page:
    ios, mac = device(page, "Device ios"), device(page, "Device mac")
    for one in (ios, mac):
        expect(one.get_by_role("heading", name="Choose a music service")).to_be_visible()
    screenshot(page, "1-service")

    # The consent page opens in a window of its own, although the browser blocks windows that nobody asked for.
    consent = open_tab(page, ios.get_by_role("button", name="Connect Spotify").click)
    consent.get_by_role("button", name="Agree").click()
    for one in (ios, mac):
        expect(one.get_by_role("heading", name="Choose a playlist")).to_be_visible()
        expect(one.get_by_role("button", name="Calm")).to_be_visible()
    consent.close()
    screenshot(page, "2-playlists")

    ios.get_by_role("button", name="Calm").click()
    for one in (ios, mac):
        expect(one.get_by_role("button", name="Play on Spotify")).to_be_visible()
    screenshot(page, "3-playlist")
    # On the phone the playlist covers the list; on the mac they are side by side.
    expect(ios.get_by_role("heading", name="Choose a playlist")).to_be_hidden()
    expect(mac.get_by_role("heading", name="Choose a playlist")).to_be_visible()
    ios.get_by_role("button", name="Back").click()
    expect(ios.get_by_role("heading", name="Choose a playlist")).to_be_visible()
    check_access(page, "playlists")
