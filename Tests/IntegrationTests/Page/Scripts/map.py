"""The map: the story lights the screens and arrows of both flows in order; details, keyboard, counts and sessions."""

import re

from page import check_access, device, expect, log_in, open_page, screenshot, show, step, wait_unseen

# Records each arrow that is marked as taken, each screen that comes to the front, and the marks that last a moment.
RECORDED = """() => {
    window.recorded = []
    const platformOf = element => element.closest('[data-platform]')?.dataset.platform
    new MutationObserver(records => {
        for (const { target, addedNodes } of records) {
            for (const node of addedNodes) {
                const mark = ['return', 'taken-dot'].find(name => node.classList?.contains(name))
                if (mark && node.checkVisibility()) recorded.push(`${platformOf(target)}: ${mark}`)
            }
        }
        const seen = new Set()
        for (const { target, type, attributeName, oldValue } of records) {
            if (type !== 'attributes') continue
            const { from, to, here, screen } = target.dataset
            if (target.matches('.arrow.taken') && attributeName === 'class' && !/\\btaken\\b/.test(oldValue)) {
                // An arrow that loses another class at the same time has two records.
                if (!seen.has(target)) recorded.push(`${platformOf(target)}: ${from} → ${to}`)
                seen.add(target)
            }
            if (attributeName === 'data-here' && here === 'front' && oldValue !== 'front') {
                recorded.push(`${platformOf(target)}: ${screen}`)
            }
        }
    }).observe(document, {
        subtree: true, childList: true, attributes: true, attributeOldValue: true,
        attributeFilter: ['class', 'data-here'] })
}"""


def flow(page, platform: str):
    """The part of the map for a platform."""
    return page.get_by_role("region", name=f"Flow of {platform}", exact=True)


def card(page, platform: str, screen: str):
    return flow(page, platform).locator(f'.card[data-screen="{screen}"]')


def arrow(page, platform: str, origin: str, target: str, words: str = ""):
    found = flow(page, platform).locator(f'.arrow[data-from="{origin}"][data-to="{target}"]')
    return found.filter(has_text=words).first


def check_story(page) -> None:
    """Log-in and the choice of a playlist on the phone move both flows."""
    for platform in ("ios", "mac"):
        expect(card(page, platform, "serviceSelection")).to_have_attribute("data-here", "front")
    page.evaluate(RECORDED)
    log_in(page)
    for platform in ("ios", "mac"):
        expect(card(page, platform, "playlistSelection")).to_have_attribute("data-here", "front")
    device(page, "Device ios").get_by_role("button", name="Calm").click()
    for platform in ("ios", "mac"):
        expect(card(page, platform, "generatedPlaylist")).to_have_attribute("data-here", "front")
        steps = [line for line in page.evaluate("recorded") if line.startswith(f"{platform}: ")]
        arrows = [line.removeprefix(f"{platform}: ") for line in steps if "→" in line]
        assert arrows == ["serviceSelection → playlistSelection", "playlistSelection → generatedPlaylist"], steps
        screens = [line.removeprefix(f"{platform}: ") for line in steps if "→" not in line]
        assert screens == ["playlistSelection", "generatedPlaylist"], steps
    # On the mac the list stays beside the playlist.
    expect(card(page, "mac", "playlistSelection")).to_have_attribute("data-here", "shown")
    expect(card(page, "ios", "generatedPlaylist")).to_have_accessible_name(re.compile("^generatedPlaylist, .*in front"))


def check_last_story(page) -> None:
    """The newest story, with the slowest of its steps."""
    steps = page.get_by_role("list", name="Steps of the last story").get_by_role("listitem")
    expect(steps.first).to_contain_text("PlaylistSelected")
    expect(steps.filter(has_text="music-service").first).to_be_visible()
    expect(steps.filter(has_text="slowest")).to_have_count(1)
    expect(page.locator(".last-steps .slowest")).to_have_count(1)
    # The map names it below the screen to which it belongs.
    for platform in ("ios", "mac"):
        expect(flow(page, platform).locator("text.slow")).to_have_text(re.compile(r"^\S+ .*\d m?s$"))


def check_details(page) -> None:
    arrow(page, "ios", "playlistSelection", "generatedPlaylist").dispatch_event("click")
    detail = page.get_by_role("complementary", name=re.compile("^Rule for"))
    expect(detail).to_be_focused()
    expect(detail.get_by_text(re.compile(r"^ios\.yaml:\d+$")).first).to_be_visible()
    expect(detail.get_by_text("on: command.PlaylistSelected").first).to_be_visible()
    check_access(page, "the detail of an arrow")
    page.keyboard.press("Escape")
    expect(detail).to_have_count(0)
    expect(arrow(page, "ios", "playlistSelection", "generatedPlaylist")).to_be_focused()

    # The arrow of a link is named by its URL.
    expect(flow(page, "ios").get_by_role("button", name="Link focus://playlist/").first).to_be_attached()

    card(page, "mac", "generatedPlaylist").dispatch_event("click")
    detail = page.get_by_role("complementary", name="Screen generatedPlaylist")
    expect(detail.get_by_text("Received by music-service").first).to_be_visible()
    leads = detail.get_by_role("button", name=re.compile("PlaylistSelected.*from playlistSelection"))
    expect(leads).to_be_visible()
    screenshot(page, "map-detail")
    # What leads to the screen leads to its arrow, and its last stories to them.
    leads.click()
    detail = page.get_by_role("complementary", name="Rule for PlaylistSelected")
    expect(detail.get_by_role("link").first).to_have_attribute("href", re.compile("^#/story/"))
    detail.get_by_role("button", name="Close the detail").click()
    expect(page.get_by_role("complementary")).to_have_count(0)


def check_keyboard(page) -> None:
    """One stop of the Tab key; the arrow keys go along the arrows."""
    graph = flow(page, "ios").get_by_role("group")
    expect(graph.locator('[tabindex="0"]')).to_have_count(1)
    graph.locator('[tabindex="0"]').focus()
    page.keyboard.press("Home")
    expect(card(page, "ios", "generatedPlaylist")).to_be_focused()
    page.keyboard.press("ArrowLeft")
    expect(graph.locator('.arrow[data-to="generatedPlaylist"]:focus')).to_have_count(1)
    page.keyboard.press("ArrowLeft")
    expect(card(page, "ios", "playlistSelection")).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(graph.locator('.arrow[data-from="playlistSelection"]:focus')).to_have_count(1)
    page.keyboard.press("ArrowRight")
    expect(card(page, "ios", "generatedPlaylist")).to_be_focused()
    page.keyboard.press("0")
    page.keyboard.press("Enter")
    detail = page.get_by_role("complementary", name="Screen generatedPlaylist")
    expect(detail).to_be_focused()
    page.keyboard.press("Escape")
    expect(card(page, "ios", "generatedPlaylist")).to_be_focused()


def check_counts(page) -> None:
    counts = page.get_by_role("button", name="Counts")
    taken = arrow(page, "ios", "playlistSelection", "generatedPlaylist", "PlaylistSelected")
    expect(flow(page, "ios").locator(".times")).to_have_count(0)
    counts.click()
    expect(counts).to_have_attribute("aria-pressed", "true")
    expect(flow(page, "ios").get_by_text(re.compile(r"^×\d+$")).first).to_be_visible()
    counts.click()
    # Rules that nobody has taken are faint, as soon as the journal has been read.
    expect(flow(page, "ios").locator('.arrow.never[data-to="premiumRequired"]')).to_have_count(1)
    expect(taken).to_be_visible()


def check_sessions(page) -> None:
    everything = page.get_by_role("button", name="All sessions")
    everything.click()
    expect(everything).to_have_attribute("aria-pressed", "true")
    assert "session=" in page.url, page.url
    expect(card(page, "ios", "generatedPlaylist")).to_have_attribute("data-here", "front")
    # A session without screens.
    show(page, "#/map?session=nobody")
    expect(flow(page, "ios").locator(".card[data-here=front]")).to_have_count(0)
    show(page, "#/map")
    expect(card(page, "ios", "generatedPlaylist")).to_have_attribute("data-here", "front")


def check_back(page) -> None:
    """A person who goes back takes no arrow: a dashed line shows the way."""
    device(page, "Device ios").get_by_role("button", name="Back").click()
    expect(card(page, "ios", "playlistSelection")).to_have_attribute("data-here", "front")
    wait_unseen(page, "recorded.includes('ios: return')")
    expect(flow(page, "ios").locator(".return")).to_have_count(0)


def check_widths(page) -> None:
    """From 1,600 px the map is below the devices, otherwise in the inspector; always the same element."""
    page.evaluate("window.map = document.querySelector('segue-map')")
    for width, height, place in ((360, 780, "inspector"), (1280, 800, "inspector"), (1680, 1000, "map-panel")):
        page.set_viewport_size({"width": width, "height": height})
        expect(page.locator(f"#{place} segue-map")).to_be_visible()
        assert page.evaluate("map === document.querySelector('segue-map')")
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            check_access(page, f"the map, {scheme}, {width} px")
            screenshot(page, f"map-{width}-{scheme}")
        if width == 360:
            expect(page.locator(".map-flow:visible")).to_have_count(1)
            page.get_by_role("group", name="Platform").get_by_role("button", name="mac").click()
            expect(flow(page, "mac")).to_be_visible()
            expect(flow(page, "ios")).to_be_hidden()
    page.emulate_media(color_scheme="light")


def check_reduced_motion(page) -> None:
    """Nothing moves: a dot marks the arrow that was taken."""
    page.emulate_media(reduced_motion="reduce")
    page.evaluate("recorded.length = 0")
    device(page, "Device ios").get_by_role("button", name="Nordic Calm").click()
    wait_unseen(page, "recorded.includes('ios: taken-dot')")
    assert page.evaluate("""document.querySelector('segue-map').getAnimations({ subtree: true })
        .every(animation => animation.effect.getComputedTiming().duration <= 1)""")
    page.emulate_media(reduced_motion="no-preference")


def check_kills(page) -> None:
    """The map continues with the next coordinator and with the next gateway, which counts all rules again."""
    ios = device(page, "Device ios")
    page.evaluate("""() => {
        window.states = []
        const state = document.getElementById('state')
        new MutationObserver(() => states.push(state.dataset.state))
            .observe(state, { attributes: true, attributeFilter: ['data-state'] })
    }""")
    for killed, playlist in (("ios-coordinator", "Code Flow"), ("web", "Morning Pages")):
        page.evaluate("states.length = 0")
        step(f"kill {killed}")
        # The page may not have noticed yet that the gateway has ended. A tap would be lost with the old one.
        if killed == "web":
            wait_unseen(page, "states.includes('gateway away')")
        expect(page.get_by_text("live", exact=True)).to_be_visible()
        ios.get_by_role("button", name="Back").click()
        expect(card(page, "ios", "playlistSelection")).to_have_attribute("data-here", "front")
        # An arrow that is still marked is not marked anew.
        expect(page.locator(".arrow.taken")).to_have_count(0)
        page.evaluate("recorded.length = 0")
        ios.get_by_role("button", name=playlist).click()
        expect(card(page, "ios", "generatedPlaylist")).to_have_attribute("data-here", "front")
        wait_unseen(page, "recorded.includes('ios: playlistSelection → generatedPlaylist')")
        # The requests that were under way have failed.
        page.trouble.forgive()
    page.get_by_role("button", name="Counts").click()
    times = arrow(page, "ios", "playlistSelection", "generatedPlaylist", "×4")
    expect(times).to_be_visible()
    page.get_by_role("button", name="Counts").click()


def check_marks(page) -> None:
    """A row of Happenings marks the arrow of its rule, as long as the pointer is on it."""
    rows = page.get_by_role("grid", name="Happenings").get_by_role("row")
    rows.filter(has_text=re.compile("ios.*push generatedPlaylist")).last.hover()
    expect(flow(page, "ios").locator('.arrow.marked[data-to="generatedPlaylist"]')).not_to_have_count(0)
    expect(flow(page, "mac").locator(".arrow.marked")).to_have_count(0)
    page.get_by_role("heading", name="Segue").hover()
    expect(page.locator(".arrow.marked")).to_have_count(0)


def check_panel(page) -> None:
    """The panel can be resized and closed; then the address names another part."""
    panel, toggle = page.locator("#map-panel"), page.get_by_role("button", name="Map", exact=True)
    height = panel.bounding_box()["height"]
    page.get_by_role("separator", name="Height of the map").press("ArrowUp")
    wait_unseen(page, f"document.querySelector('#map-panel').offsetHeight > {height}")
    page.get_by_role("button", name="Close the map").click()
    expect(panel).to_be_hidden()
    expect(toggle).to_be_focused()
    toggle.click()
    expect(panel.locator("segue-map")).to_be_visible()


with open_page(viewport={"width": 1600, "height": 1000}) as page:
    show(page, "#/map")
    check_story(page)
    check_last_story(page)
    # The phone pushes the playlist for 350 ms. The arrow that was taken is marked for longer.
    device(page, "Device ios").evaluate("""device => Promise.all(device.getAnimations({ subtree: true })
        .filter(animation => animation.effect.getComputedTiming().iterations === 1)
        .map(animation => animation.finished.catch(() => {})))""")
    screenshot(page, "page")
    page.set_viewport_size({"width": 1280, "height": 800})
    check_details(page)
    check_keyboard(page)
    check_counts(page)
    check_sessions(page)
    check_back(page)
    check_widths(page)
    check_reduced_motion(page)
    check_marks(page)
    check_panel(page)
    check_kills(page)
