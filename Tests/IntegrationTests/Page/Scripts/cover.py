"""The map with what no scenario or recording takes, as `segue flow cover --live` opens it: `PageTests` has the flow."""

from urllib.parse import quote

from page import check_access, expect, open_page, screenshot, show, step


def cover(page, version: str, *places: str) -> None:
    show(page, "#/map?untaken=" + ",".join([version, *(quote(quote(place, safe="[]")) for place in places)]))


with open_page(viewport={"width": 1280, "height": 800}) as page:
    show(page, "#/map")
    flow = page.get_by_role("region", name="Flow of shop", exact=True)
    counts = page.get_by_role("button", name="Counts")
    line = page.get_by_role("button", name="Scenarios and recordings miss")
    other = page.get_by_role("button", name="The bus has another version of the flow")
    faint, strong = flow.locator(".arrow.never"), flow.locator(".arrow:not(.never)")
    # Nobody has taken a rule.
    expect(faint).to_have_count(6)
    expect(line.or_(other)).to_have_count(0)

    version = page.evaluate("fetch('/api/flows/shop').then(answer => answer.json()).then(flow => flow.hash)")
    cover(page, version, "transitions[1].guard.rejected", "flows.a, 5%.transitions[0]", "links[0]")
    expect(line).to_have_text("Scenarios and recordings miss 3 ✕")
    expect(faint).to_have_count(4)
    expect(strong).to_have_count(2)
    # The answers to one guard are told apart.
    for target in ("refused", "details"):
        expect(flow.locator(f'.arrow.never[data-to="{target}"]')).to_have_count(1)
    expect(flow.locator(".arrow.never.link")).to_have_count(2)
    expect(flow.locator('.arrow:not(.never)[data-to="receipt"]')).to_have_count(1)
    expect(counts).to_be_hidden()
    # Also with the address that the page has made of it.
    page.reload()
    expect(line).to_have_text("Scenarios and recordings miss 3 ✕")
    expect(faint).to_have_count(4)
    check_access(page, "a map with what no scenario takes")
    screenshot(page, "map-cover")
    # What people do changes nothing.
    step('publish event.DeepLinkReceived {"url":"shop://item"}')
    expect(flow.locator('.card[data-screen="item"]')).to_have_attribute("data-here", "front")
    expect(faint).to_have_count(4)
    # The other flows are drawn without it.
    expect(page.locator('.map-flow[data-platform="ios"] .arrow').first).to_be_attached()
    expect(page.locator('.map-flow[data-platform="ios"] .arrow.never')).to_have_count(0)

    cover(page, "0123456789abcdef", "links[0]")
    expect(other).to_be_visible()
    expect(page.locator(".arrow.never")).to_have_count(0)
    for hostile in (",,", "__proto__,constructor", "%00,%E0%A4%A", '"><img src=x onerror=window.hacked=1>,'):
        cover(page, version)
        expect(line).to_have_text("Scenarios and recordings miss 0 ✕")
        show(page, f"#/map?untaken={hostile}")
        expect(line).to_have_count(0)
    assert page.evaluate("window.hacked") is None
    # An address that is too long is one without a list.
    cover(page, version)
    expect(line).to_be_visible()
    show(page, f"#/map?untaken={version}" + 800 * ",links[000]")
    expect(counts).to_be_visible()
    expect(line).to_have_count(0)

    # The plain map again: the link has been followed.
    cover(page, version, "links[0]")
    line.click()
    expect(line).to_have_count(0)
    expect(counts).to_be_visible()
    expect(faint).to_have_count(4)
    assert "untaken" not in page.url, page.url
