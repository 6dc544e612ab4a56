"""The playing screen on both platforms: it follows other clients of Spotify, and its buttons act."""

from page import check_access, device, expect, log_in, open_page, screenshot, step

with open_page() as page:
    ios, mac = device(page, "Device ios"), device(page, "Device mac")
    expect(ios.get_by_role("heading", name="Choose a music service")).to_be_visible()
    log_in(page)
    ios.get_by_role("button", name="Deep Focus").click()
    ios.get_by_role("button", name="Play on Spotify").click()
    expect(page.get_by_text("Spotify plays.").first).to_be_visible()
    ios.get_by_role("button", name="Now playing").click()
    for one in (ios, mac):
        expect(one.get_by_role("heading", name="Now playing")).to_be_visible()
        expect(one.get_by_role("button", name="Pause")).to_be_visible()
    screenshot(page, "4-playing")
    check_access(page, "playing")

    # The position moves on, although no message arrives.
    position = ios.locator(".progress")
    start = position.inner_text()
    expect(position).not_to_have_text(start)

    # Another client pauses the music, and sets the volume and the position.
    step("control player action=pause")
    for one in (ios, mac):
        expect(one.get_by_role("button", name="Resume")).to_be_visible()
    step("control player action=volume&volume_percent=30")
    step("control player action=seek&position_ms=65000")
    for one in (ios, mac):
        expect(one.get_by_text("volume 30 %")).to_be_visible(timeout=30_000)
        expect(one.locator(".progress")).to_contain_text("1:05 of ", timeout=30_000)

    # The buttons of one device act, and both devices show it.
    mac.get_by_role("button", name="Louder: 40 %").click()
    for one in (ios, mac):
        expect(one.get_by_text("volume 40 %")).to_be_visible()
    ios.get_by_role("button", name="Go to the start, 0:00").click()
    for one in (ios, mac):
        expect(one.locator(".progress")).to_contain_text("0:00 of ")
    mac.get_by_role("button", name="Resume").click()
    song = ios.get_by_role("group", name="Now playing").locator(".row-title").first
    former = song.inner_text()
    ios.get_by_role("button", name="Next song").click()
    expect(song).not_to_have_text(former)
    ios.get_by_role("button", name="Previous song").click()
    expect(song).to_have_text(former)
    ios.get_by_role("button", name="Pause").click()
    for one in (ios, mac):
        expect(one.get_by_role("button", name="Resume")).to_be_visible()

    # Each platform leaves the screen by itself.
    ios.get_by_role("button", name="Close", exact=True).click()
    expect(ios.get_by_role("heading", name="Now playing")).to_have_count(0)
    expect(mac.get_by_role("heading", name="Now playing")).to_be_visible()
