"""The map of a flow with hostile names, from a gateway that finds no Graphviz: `PageTests` has the flow."""

from page import check_access, expect, open_page, show

SCRIPT = "<script>window.hacked=1</script>"
LABEL = 'a"]; node [label="x'

with open_page(viewport={"width": 1280, "height": 800}) as page:
    show(page, "#/map")
    flow = page.locator('.map-flow[data-platform="watch"]')
    cards = flow.locator(".card[data-screen]")
    expect(cards).to_have_count(3)
    screens = cards.evaluate_all("cards => cards.map(card => card.dataset.screen)")
    assert {SCRIPT, LABEL} < set(screens), screens
    expect(flow).to_contain_text("<script>")
    expect(flow.locator(".card[data-here=front]")).to_have_attribute("data-screen", SCRIPT)
    # Nothing of the names is markup, and the longest one is cut.
    assert page.evaluate("window.hacked") is None
    assert page.locator("segue-map :is(script, img)").count() == 0
    assert max(map(len, flow.locator("text").all_text_contents())) < 100
    # The ranks of the other flows are drawn as well, and the page says why.
    page.get_by_text("Simple layout").click()
    expect(page.get_by_text("Graphviz is not installed")).to_be_visible()
    expect(page.locator('.map-flow[data-platform="ios"] .card[data-screen="playlistSelection"]')).to_be_visible()
    check_access(page, "a map with hostile names")
    flow.locator(".arrow").first.dispatch_event("click")
    expect(page.get_by_role("complementary", name="Rule for Go")).to_contain_text("command.Go")
    assert page.evaluate("window.hacked") is None
