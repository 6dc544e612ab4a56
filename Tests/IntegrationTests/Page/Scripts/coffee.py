"""The app of Examples/Coffee, which has no code for the page: its flow and its messages are enough.

`scripts/examples` runs this script, because the app is a package of its own.
"""

from page import check_access, device, drag, expect, open_page, screenshot

with open_page() as page:
    counter = device(page, "Device counter")
    menu = counter.get_by_role("group", name="What would you like?")
    kind = menu.get_by_role("textbox", name="kind")
    order = menu.get_by_role("button", name="CoffeeOrdered")
    expect(kind).to_be_visible()
    check_access(page, "menu")
    screenshot(page, "coffee-1-menu")

    # The barista has no tea: the banner tells it, and the menu is shown again, with what was entered.
    kind.fill("tea")
    order.click()
    expect(counter.get_by_role("alert")).to_contain_text("There is no tea here.")
    expect(counter.get_by_role("alert")).to_contain_text("Order one of: espresso, lungo, cappuccino.")
    expect(kind).to_have_value("tea")
    screenshot(page, "coffee-2-no-tea")
    counter.get_by_role("button", name="Dismiss the error").click()
    expect(counter.get_by_role("alert")).to_be_empty()

    expect(order).to_be_enabled()
    kind.fill("lungo")
    kind.press("Enter")
    cup = counter.get_by_role("group", name="Here you are")
    expect(cup).to_contain_text("lungo")
    check_access(page, "cup")
    screenshot(page, "coffee-3-cup")
    # A back swipe shows the whole menu from its beginning.
    with drag(page, cup, (8, 0.5)) as move:
        move(150, 0)
        expect(order).to_be_visible()
        move(20, 0)
    expect(order).to_be_hidden()
    cup.get_by_role("button", name="CoffeeTaken").click()
    expect(cup).to_have_count(0)
    expect(menu).to_be_visible()
