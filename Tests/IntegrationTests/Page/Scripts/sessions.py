"""Two sessions side by side, each with an account of its own."""

from page import expect, open_page, open_tab


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
