"""Processes that are ended with `kill -9` while the page is open."""

from page import device, expect, log_in, messages, open_page, screens, screenshot, step

# Each process with the playlists that are chosen afterwards, on the phone and on the mac.
KILLED = {
    "web": ("Code Flow", "Morning Pages"),
    "broker": ("Space Drift", "String Quartets"),
    "ios-coordinator": ("Code Flow", "Morning Pages"),
    "music-service": ("Space Drift", "String Quartets"),
}


def choose(ios, mac, where, playlist: str) -> None:
    """Chooses a playlist on one device, and waits until both show its songs."""
    if where is ios:
        ios.get_by_role("button", name="Back").click()
    where.get_by_role("button", name=playlist).click()
    for one in (ios, mac):
        expect(one.get_by_role("group", name=playlist).get_by_role("button", name="Play on Spotify")).to_be_visible()


def choose_too_early(page, ios, mac) -> None:
    """Makes a choice that a gateway refuses at first, because it was started a moment ago."""
    refused = []

    def refuse(route):
        if refused or "choose" not in route.request.post_data_json:
            return route.fallback()
        refused.append(route.request.url)
        route.fulfill(status=404, json={"error": {"code": "unknown", "message": "there is no such device"}})

    pattern = "**/api/stream/*/device/*"
    page.route(pattern, refuse)
    choose(ios, mac, mac, "Minimal")
    page.unroute(pattern)
    assert refused
    page.trouble.forgive()


with open_page() as page:
    ios, mac = device(page, "Device ios"), device(page, "Device mac")
    log_in(page)
    ios.get_by_role("button", name="Deep Focus").click()
    for one in (ios, mac):
        expect(one.get_by_role("button", name="Play on Spotify")).to_be_visible()
    page.goto(page.url.split("#")[0] + "#/messages?type=command.PlaylistSelected&type=event.PlaylistShuffled")
    grid = page.get_by_role("grid", name="Messages")
    expect(grid.get_by_role("row")).to_have_count(2)
    choose_too_early(page, ios, mac)
    rows = 4
    expect(grid).to_have_attribute("aria-rowcount", str(rows))
    start = step("end")

    for killed, (first, second) in KILLED.items():
        before = screens(ios, 1), screens(mac, 2)
        step(f"kill {killed}")
        if killed == "web":
            # The new gateway counts a stream when the page has connected again.
            page.evaluate("""async () => {
                const streams = async () => (await fetch('/metrics')).text()
                while (!/^segue_page_streams 1$/m.test(await streams())) await new Promise(requestAnimationFrame)
            }""")
        expect(page.get_by_text("live", exact=True)).to_be_visible()
        expect(ios).to_match_aria_snapshot(before[0])
        expect(mac).to_match_aria_snapshot(before[1])
        screenshot(page, f"restarts-{killed}")
        choose(ios, mac, ios, first)
        choose(ios, mac, mac, second)
        if killed == "web":
            # The stream and the requests that were under way have failed, and a choice that came too early.
            page.trouble.forgive()
        page.trouble.check()
        # Each choice has two rows, the command and the event that follows it.
        rows += 4
        expect(grid).to_have_attribute("aria-rowcount", str(rows))
        assert len(messages("0", "command.PlaylistSelected event.PlaylistShuffled")) == rows

    chosen = [command["data"]["playlistID"] for command in messages(start, "command.PlaylistSelected")]
    assert len(chosen) == 2 * len(KILLED), chosen
    # The devices continue: the app was launched before.
    assert messages(start, "event.LaunchFinished") == []
