"""Two sessions side by side, each with an account of its own."""

from page import context, expect, open_page, open_tab, sign_in


def log_in(page, one, account: str) -> None:
    consent = open_tab(page, one.get_by_role("button", name="Connect Spotify").click)
    consent.get_by_role("radio", name=account).check()
    consent.get_by_role("button", name="Agree").click()
    expect(one.get_by_role("heading", name="Choose a playlist")).to_be_visible()
    consent.close()


with open_page() as page:
    page.evaluate("location.hash = '#/?devices=ios:anna,ios:bert'")
    anna, bert = (page.get_by_role("region", name=f"Device ios, session {name}") for name in ("anna", "bert"))
    for one in (anna, bert):
        expect(one.get_by_role("heading", name="Choose a music service")).to_be_visible()
    log_in(page, anna, "Segue Listener")
    expect(anna.get_by_role("button", name="Deep Focus")).to_be_visible()
    # The other session is still not connected.
    expect(bert.get_by_role("button", name="Connect Spotify")).to_be_visible()
    log_in(page, bert, "Night Listener")
    expect(bert.get_by_role("button", name="Late Shift")).to_be_visible()
    expect(bert.get_by_role("button", name="Deep Focus")).to_be_hidden()

    anna.get_by_role("button", name="Deep Focus").click()
    bert.get_by_role("button", name="Late Shift").click()
    for one in (anna, bert):
        expect(one.get_by_role("button", name="Play on Spotify")).to_be_visible()
    expect(bert.get_by_text("Viaduct")).to_be_visible()
    expect(anna.get_by_text("Viaduct")).to_be_hidden()

    # The browser of a person who has signed in to one session shows nothing else, and asks for nothing that is refused.
    with context(page.context.browser) as browser:
        own = sign_in(browser, page.trouble, session="anna")
        own.evaluate("location.hash = '#/map?devices=ios:bert'")
        expect(own.get_by_role("region", name="Device ios, session anna")).to_contain_text("Play on Spotify")
        expect(own.get_by_role("region", name="session bert")).to_have_count(0)
        for hidden in ("#inspector", "#map-panel", "#session", "#inspector-toggle", "#map-toggle"):
            expect(own.locator(hidden)).to_be_hidden()
        # The last sign-in counts, in all tabs of the browser.
        sign_in(browser, page.trouble)
        expect(own.get_by_role("tab", name="Activity")).to_be_visible()
