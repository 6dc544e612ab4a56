"""The inspector: the messages of the story, their data and their stories, the form, the processes and dead letters."""

import json
import re
import urllib.request

from page import device, expect, log_in, open_page, screenshot, show, step


def metrics(page) -> dict[str, float]:
    """What Prometheus would read: the figures by their names and labels."""
    with urllib.request.urlopen(f"{page.evaluate('location.origin')}/metrics") as answer:
        lines = [line for line in answer.read().decode().splitlines() if not line.startswith("#")]
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines)}


def figure(found: dict[str, float], name: str, process: str) -> float:
    """The figure of a process, of which one instance runs."""
    return next(value for key, value in found.items() if key.startswith(f'{name}{{process="{process}"'))


def check_happenings(page) -> None:
    """The default list: the tap, and below it what the services did and what changed, in order."""
    grid = page.get_by_role("grid", name="Happenings")
    rows = grid.get_by_role("row")
    expect(page.get_by_role("button", name="Happenings")).to_have_attribute("aria-pressed", "true")
    expect(rows.filter(has_text="PlaylistShuffled")).to_have_count(1)
    expect(rows.filter(has_text=re.compile("→.*generatedPlaylist"))).to_have_count(2)
    texts = rows.all_inner_texts()
    tap = next(index for index, text in enumerate(texts) if "PlaylistSelected playlistID=NordicCalm" in text)
    assert re.search("^[0-9:.]+\\stap\\s*ios playlistSelection", texts[tap]), texts[tap]
    # Its effects follow, each with the time since the tap; those on a platform also with the line of their rule.
    effects = texts[tap + 1:-1]
    assert all(re.match(r"effect\s\+[\d.]+ m?s\s", text) for text in effects), texts
    times = [float(re.match(r"effect\s\+([\d.]+)", text)[1]) * (1 if " ms" in text else 1000) for text in effects]
    assert times == sorted(times), texts
    for platform, change in (("ios", "push generatedPlaylist"), ("mac", "column detail: generatedPlaylist")):
        pushes = [text for text in effects if change in text]
        assert len(pushes) == 1 and re.search(rf"\b{platform}\s", pushes[0]), texts
        assert re.search(rf"\b{platform}\.yaml:\d+$", pushes[0]), texts
    loading, shuffled = ([index for index, text in enumerate(effects) if words in text]
                         for words in ("NordicCalm loading", "PlaylistShuffled"))
    assert loading and shuffled and loading[0] <= shuffled[0] and "music-service" in effects[shuffled[0]], texts
    # What is between processes is one count at the end.
    assert re.fullmatch(r"Not shown: [\d,]+ messages? that only processes need", texts[-1].strip()), texts[-1]
    screenshot(page, "inspector-happenings")

    # A row marks the device on which it has happened.
    page.evaluate("""() => {
        window.marked = []
        const animate = Element.prototype.animate
        Element.prototype.animate = function (...rest) {
            if (this.matches('.pulse')) window.marked.push(this.closest('segue-device').options.platform)
            return animate.apply(this, rest)
        }
    }""")
    rows.nth(tap).hover()
    page.wait_for_function("window.marked.includes('ios')")
    assert page.evaluate("window.marked.includes('mac')") is False

    # A paused list stays as it is. When it goes on, it shows what has happened meanwhile.
    page.get_by_role("button", name="Pause").click()
    step('publish event.TestNoted {"word":"meanwhile"}')
    resume = page.get_by_role("button", name=re.compile("^Resume · "))
    expect(resume).to_be_visible()
    expect(rows.filter(has_text="meanwhile")).to_have_count(0)
    resume.click()
    expect(rows.filter(has_text="meanwhile")).to_be_visible()

    # An origin opens its story, and a row with one message that message.
    rows.filter(has_text="PlaylistSelected playlistID=NordicCalm").click()
    expect(page.get_by_role("heading", name="Story of PlaylistSelected")).to_be_visible()
    page.go_back()
    rows.filter(has_text="meanwhile").click()
    expect(page.get_by_role("heading", name="Story of TestNoted")).to_be_visible()
    page.go_back()
    rows.filter(has_text="push generatedPlaylist").click()
    message = page.get_by_role("region", name="Message", exact=True)
    expect(message.get_by_role("heading", name="NavigationState")).to_be_visible()
    show(page, "#/messages")


def check_messages(page) -> None:
    rows = page.get_by_role("grid", name="Messages").get_by_role("row")
    search = page.get_by_role("searchbox", name="Search in summaries")
    # No empty pane takes room beside the list.
    expect(page.get_by_role("region", name="Message", exact=True)).to_be_hidden()
    # Rows have the kind as a badge, the type, the process and what the data says.
    step('publish event.TestNoted {"word":"needle"}')
    needle = rows.filter(has_text="needle")
    expect(needle).to_contain_text("TestNoted")
    expect(needle).to_contain_text("event")
    screenshot(page, "inspector-messages")

    page.get_by_role("button", name="Filter", exact=True).click()
    page.get_by_role("button", name="Only command.PlaylistSelected").click()
    expect(rows).to_have_count(1)
    expect(rows.first).to_contain_text("PlaylistSelected")
    # The address has the filter, so that it can be copied. A reload keeps the devices and the filter.
    assert "type=command.PlaylistSelected" in page.url, page.url
    page.reload()
    expect(rows).to_have_count(1)
    page.get_by_role("button", name="Remove the filter").click()
    expect(needle).to_be_visible()

    search.fill("needle")
    expect(rows).to_have_count(1)
    search.fill("no such words")
    expect(page.get_by_text("No message that is loaded contains")).to_be_visible()
    search.fill("")
    expect(needle).to_be_visible()

    # A condition on the data, as in `segue monitor --where`; and one that the gateway refuses.
    page.get_by_role("button", name=re.compile("^Filter")).click()
    page.get_by_label("Condition").fill('data.playlistID == "NordicCalm"')
    expect(rows.filter(has_text="PlaylistSelected")).to_have_count(1)
    expect(needle).to_have_count(0)
    page.get_by_role("button", name="Remove the filter").click()
    expect(needle).to_be_visible()

    # Two fields that somebody writes in, one shortly after the other, are both read.
    fields = [page.get_by_role("textbox", name=name, exact=True).element_handle() for name in ("Types", "Source")]
    page.evaluate("""fields => fields.forEach(field => {
        field.value = 'command.*'
        field.dispatchEvent(new Event('input'))
    })""", fields)
    expect(page).to_have_url(re.compile(re.escape("type=command.*&source=command.*")))
    page.evaluate("location.hash = '#/messages'")
    expect(needle).to_be_visible()


def check_changes(page) -> None:
    """A list whose elements have only changed places is not equal to the version before."""
    for order in ("ab", "ba"):
        step(f'publish document.TestList {json.dumps({"items": [{"id": name} for name in order]})}')
    page.goto(page.url.split("#")[0] + "#/messages?type=document.TestList")
    # Until the new filter applies, the list has other rows, too.
    rows = page.get_by_role("grid", name="Messages").get_by_role("row").filter(has_text="TestList")
    expect(rows).to_have_count(2)
    rows.nth(1).click()
    changes = page.get_by_role("region", name="Changes")
    expect(changes).to_contain_text("items: order")
    expect(changes).to_contain_text("b, a")
    page.get_by_role("button", name="Close the message").click()


def check_pauses(page) -> None:
    """Long pauses of a story are folded, also if it has few messages."""
    found = page.evaluate("""async () => {
        const { planStory } = await import('/inspector/story-plan.js')
        const message = (time, index) => ({ id: `${index}`, cause: `${index - 1}`, source: 'test/1', handledBy: [],
            kind: 'event', type: 'event.TestNoted', time: new Date(time).toISOString() })
        const pauses = (...times) => planStory(times.map(message)).scale.pauses.map(pause => pause.length)
        return [pauses(0, 5000), pauses(0, 5, 5000), pauses(0, 4000, 9000), pauses(0, 5, 10, 5000)]
    }""")
    assert found == [[5000], [4995], [], [4990]], found


def check_message(page) -> None:
    rows = page.get_by_role("grid", name="Messages").get_by_role("row")
    page.goto(page.url.split("#")[0] + "#/messages?type=command.PlaylistSelected")
    expect(rows).to_have_count(1)
    rows.first.click()
    message = page.get_by_role("region", name="Message", exact=True)
    expect(message.get_by_role("heading", name="PlaylistSelected")).to_be_visible()
    data = message.get_by_role("tree", name="Data")
    expect(data.get_by_role("treeitem", name="playlistID")).to_contain_text('"NordicCalm"')
    attributes = message.get_by_role("tree", name="Attributes")
    expect(attributes.get_by_role("treeitem").filter(has_text=re.compile("^platform"))).to_contain_text('"ios"')
    expect(attributes).to_contain_text("correlationid")
    screenshot(page, "inspector-message")

    message.get_by_role("link", name="Story").click()
    expect(page.get_by_role("heading", name="Story of PlaylistSelected")).to_be_visible()
    steps = page.get_by_role("table", name="Messages of the story").get_by_role("row")
    for name in ("PlaylistSelected", "NavigationState", "GeneratedPlaylist", "PlaylistShuffled"):
        expect(steps.filter(has_text=name).first).to_be_visible()
    expect(page.get_by_role("heading", name="Critical path")).to_be_visible()
    screenshot(page, "inspector-story")
    # The message behind a step, and back again with the button of the browser.
    steps.get_by_role("link", name="PlaylistShuffled").click()
    expect(message.get_by_role("heading", name="PlaylistShuffled")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("heading", name="Story of PlaylistSelected")).to_be_visible()


def check_transient(page) -> None:
    """A message that the journal does not have is in the list, with its data."""
    page.goto(page.url.split("#")[0] + "#/messages")
    rows = page.get_by_role("grid", name="Messages").get_by_role("row")
    # When the list shows a recorded message, its view is open, and misses no transient one.
    step('publish event.TestNoted {"word":"steady"}')
    expect(rows.filter(has_text="steady")).to_be_visible()
    step('transient event.TestNoted {"word":"fleeting"}')
    rows.filter(has_text="fleeting").click()
    expect(page.get_by_role("region", name="Message").get_by_role("tree", name="Data")).to_contain_text("fleeting")
    page.get_by_role("button", name="Close the message").click()


def check_sending_again(page) -> None:
    """A document is sent again with its key: the copy is a version of the same document."""
    rows = page.get_by_role("grid", name="Messages").get_by_role("row")
    page.goto(page.url.split("#")[0] + "#/messages?type=document.NavigationState&source=navigation-coordinator")
    rows.filter(has_text="[mac]").last.click()
    message = page.get_by_role("region", name="Message", exact=True)
    message.get_by_role("button", name="Send again…").click()
    expect(page.get_by_role("button", name="Cancel")).to_be_focused()
    message.get_by_role("button", name="Send", exact=True).click()
    expect(message.get_by_role("status").filter(has_text="Published as")).to_be_visible()
    page.goto(page.url.split("#")[0] + "#/messages?type=document.NavigationState&source=focus-player")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("[mac]")

    # The form for a new message asks for the key of a document.
    page.get_by_role("button", name="New message").click()
    page.get_by_label("Type", exact=True).fill("document.NavigationState")
    expect(page.get_by_label("Key")).to_be_visible()
    page.get_by_role("button", name="Close the form").click()


def check_form(page) -> None:
    ios = device(page, "Device ios")
    show(page, "#/messages")
    page.get_by_role("button", name="New message").click()
    kind, publish = page.get_by_label("Type", exact=True), page.get_by_role("button", name="Publish")
    kind.fill("command.PlaylistSelected")
    expect(page.get_by_text("Received by music-service")).to_be_visible()
    page.get_by_label("playlistID").fill("EndlessFocus")
    screenshot(page, "inspector-form")
    # Enter in a field publishes, as the button does.
    page.get_by_label("playlistID").press("Enter")
    expect(page.get_by_text("Published.")).to_be_visible()
    expect(ios.get_by_role("heading", name="Endless Focus")).to_be_visible()

    # The contract has no such field: the gateway refuses the message, and publishes nothing.
    page.trouble.check()
    page.get_by_role("button", name="Write JSON").click()
    page.get_by_label("Data as JSON").fill('{"playlist": 12345678901234567890, "share": 1.10}')
    publish.click()
    expect(page.get_by_role("status").filter(has_text="playlistID")).to_be_visible()
    assert [line for line in page.trouble.lines if "400" in line], "the gateway has not refused the message"
    page.trouble.forgive()
    # Without the check it is published: no service can handle it, so it becomes a dead letter.
    page.get_by_label("Check the data against the contract").uncheck()
    publish.click()
    expect(page.get_by_text("Published.")).to_be_visible()
    # What was written is published, with all digits.
    rows = page.evaluate("fetch('/api/messages?limit=50').then(answer => answer.text())")
    assert r'{\"playlist\":12345678901234567890,\"share\":1.10}' in rows, rows

    # The form keeps the members that it does not show, also two with one name.
    page.get_by_label("Data as JSON").fill('{"playlistID": "EndlessFocus", "share": 1.10, "share": 2}')
    page.get_by_role("button", name="Write JSON").click()
    expect(page.get_by_label("playlistID")).to_have_value("EndlessFocus")
    publish.click()
    expect(page.get_by_text("Published.")).to_be_visible()
    rows = page.evaluate("fetch('/api/messages?limit=50').then(answer => answer.text())")
    assert r'\"share\":1.10,\"share\":2}' in rows, rows

    # Another type does not get the members of the former one, which its fields do not show.
    kind.fill("command.DeviceSelected")
    expect(page.get_by_label("deviceID")).to_be_visible()
    page.get_by_role("button", name="Write JSON").click()
    assert json.loads(page.get_by_label("Data as JSON").input_value()) == {"deviceID": ""}
    page.get_by_role("button", name="Close the form").click()


def check_processes(page) -> None:
    page.get_by_role("tab", name="Processes").click()
    rows = page.get_by_role("table", name="Processes").get_by_role("row")
    services = ["auth-service", "music-service", "error-notifier", "navigation-coordinator (ios)",
                "navigation-coordinator (mac)"]
    for name in services:
        expect(rows.filter(has_text=name)).to_have_count(1)
        expect(rows.filter(has_text=name)).to_contain_text("present")
    letters = page.get_by_role("listitem").filter(has_text="PlaylistSelected")
    expect(letters).to_have_count(1)
    expect(letters).to_contain_text("music-service")
    screenshot(page, "inspector-processes")

    # The figures of the page are those that Prometheus reads. The service reports them together: when the dead letter
    # is among them, they do not change any more.
    music = rows.filter(has_text="music-service")
    expect(music.get_by_role("cell").filter(has_text="Failed")).to_have_text("Failed 1")
    for title, name in (("Failed", "segue_process_failed_total"), ("Handled", "segue_process_handled_total")):
        shown = music.get_by_role("cell").filter(has_text=title)
        expect(shown).to_have_text(f"{title} {figure(metrics(page), name, 'music-service'):.0f}")
    # The gateway counts dead letters every few seconds.
    while metrics(page).get("segue_dead_letters") != 1:
        page.wait_for_timeout(100)

    # The message is still malformed when it is sent again, and comes back; then it is dropped.
    position = letters.get_by_role("link").get_attribute("href")
    letters.get_by_role("button", name="Resend").click()
    expect(letters.get_by_role("link")).not_to_have_attribute("href", position)
    letters.get_by_role("button", name=re.compile("Drop")).click()
    expect(page.get_by_role("button", name="Cancel")).to_be_focused()
    page.get_by_role("button", name="Drop", exact=True).click()
    expect(page.get_by_text("None: every message was handled.")).to_be_visible()
    assert metrics(page)["segue_dead_letters"] == 0

    # A process that is killed is gone; another one takes its place.
    expect(music).to_have_count(1)
    former = re.search(r"pid (\d+)", music.inner_text())[1]
    step("kill music-service")
    expect(rows.filter(has_text=f"pid {former}")).to_contain_text("gone")
    present = music.filter(has_text="present")
    expect(present).to_have_count(1)
    expect(present).not_to_contain_text(f"pid {former}")
    screenshot(page, "inspector-processes-gone")


with open_page() as page:
    log_in(page)
    device(page, "Device ios").get_by_role("button", name="Calm").click()
    expect(device(page, "Device ios").get_by_role("button", name="Play on Spotify")).to_be_visible()
    check_happenings(page)
    check_messages(page)
    check_changes(page)
    check_pauses(page)
    check_message(page)
    check_transient(page)
    check_sending_again(page)
    check_form(page)
    check_processes(page)
