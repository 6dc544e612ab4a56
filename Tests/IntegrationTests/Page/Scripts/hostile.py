"""Messages and pages that want to harm: nothing of them is executed, and nothing is published for another origin."""

import contextlib
import http.server
import json
import tempfile
import threading

from page import device, expect, log_in, open_page, screenshot, show, step

# Markup that would run a script, attributes that would end early, and characters that turn the text around.
MARKUP = ("<script>window.hacked=1</script><img src=x onerror='window.hacked=1'><svg onload=window.hacked=1>"
          "\"'&lt;\u202e\u2066\u200f\u0000\u0007${data.x}{{x}}javascript:window.hacked=1")
LONG = "long " * (4 * 1024 * 1024 // 5 - 200)
# For a document that both devices draw. On a busy machine, debug programs would parse and draw the whole text for longer
# than the supervisor waits for a sign of life.
DRAWN = LONG[:len(LONG) // 16]


def publish(kind: str, data) -> None:
    # A string of 4 MiB is too long for the line that the test reads.
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(data, file, ensure_ascii=True)
        file.flush()
        step(f"publish {kind} @{file.name}")


def seen(page, word: str) -> None:
    """Publishes one more event and waits until the page shows it: then it has received everything before."""
    publish("event.TestNoted", {"word": word})
    expect(page.get_by_role("grid", name="Messages").get_by_role("row").filter(has_text=word)).to_be_visible()


def elements(page) -> list[int]:
    """The numbers of elements and attributes that could execute something."""
    return page.evaluate("""() => ['script', 'img', 'iframe', 'object', 'embed', 'svg[onload]', '[onerror]',
        '[onload]', 'a[href^="javascript:" i]'].map(kind => document.querySelectorAll(kind).length)""")


def playlist(text: str) -> dict:
    return {"id": text, "name": text, "owner": text, "songCount": 1}


def generated(text: str, status: str = "ready") -> dict:
    song = {"id": text, "uri": text, "title": text, "artist": text, "duration": 1000}
    return {"playlistID": "NordicCalm", "status": status, "total": 1, "songs": [song]}


def banner(text: str) -> dict:
    error = {"code": text, "message": text, "recovery": text, "severity": "error"}
    return {"errorID": "hostile-1", "error": error, "waiting": 1}


def without_each(data) -> list:
    """Copies of a value, each without one key, or with a value of another type in its place."""
    copies = []
    for key, value in data.items():
        copies.append({other: data[other] for other in data if other != key})
        copies += [{**data, key: strange} for strange in (None, -1, 1e308, [[]], {"": {}})]
        if isinstance(value, dict):
            copies += [{**data, key: copy} for copy in without_each(value)]
        if isinstance(value, list) and value and isinstance(value[0], dict):
            copies += [{**data, key: [copy]} for copy in without_each(value[0])]
    return copies


def check_messages(page) -> None:
    ios, mac = device(page, "Device ios"), device(page, "Device mac")
    before = elements(page)
    dialogs = []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))

    publish("document.Playlists", {"playlists": [playlist(MARKUP), playlist("Plain")]})
    for one in (ios, mac):
        # The text is shown as it is.
        expect(one.get_by_role("button").filter(has_text="<script>window.hacked=1</script>")).to_be_visible()
    publish("document.ErrorBanner", banner(MARKUP))
    expect(ios.get_by_role("alert")).to_contain_text("<img src=x")
    publish("document.Strange", {MARKUP: MARKUP, "__proto__": {"hacked": 1}, "list": [MARKUP]})
    publish("event.Strange", {"text": MARKUP, "constructor": MARKUP})
    seen(page, "markup")
    screenshot(page, "hostile-markup")

    # The unknown document in the inspector, with its keys and values, and its story.
    page.get_by_role("grid", name="Messages").get_by_role("row").filter(has_text="Strange").last.click()
    expect(page.get_by_role("tree", name="Data")).to_contain_text("<script>")
    expect(page.get_by_role("tree", name="Data")).to_contain_text("\\u202e")
    page.get_by_role("link", name="Story").click()
    expect(page.get_by_role("heading", name="Story of Strange")).to_be_visible()
    # The same texts in the list of happenings.
    show(page, "#/happenings")
    happenings = page.get_by_role("grid", name="Happenings").get_by_role("row")
    expect(happenings.filter(has_text="<script>window.hacked=1").first).to_be_visible()
    assert "\u202e" not in "".join(happenings.all_text_contents())
    assert elements(page) == before, f"{elements(page)} instead of {before}"
    show(page, "#/messages")

    # Documents in which a key is missing or of another type are not shown, or shown as far as they can be read.
    for kind, data in (("Playlists", {"playlists": [playlist("x")]}), ("ErrorBanner", banner("x")),
                       ("GeneratedPlaylist", generated("x"))):
        for copy in [*without_each(data), None, [], 1, "x", {}]:
            step(f"publish document.{kind} {json.dumps(copy)}")
    seen(page, "types")

    publish("document.Playlists", {"playlists": [playlist(DRAWN), playlist("Plain")]})
    publish("document.ErrorBanner", banner(DRAWN))
    publish("event.Strange", {"text": LONG})
    # A word that the long texts do not contain: when it is shown, all of them have arrived.
    seen(page, "lengthy")
    row = page.get_by_role("grid", name="Messages").get_by_role("row").filter(has_text="Strange").last
    row.click()
    expect(page.get_by_text("The data is cut after 256 KiB.")).to_be_visible()
    page.get_by_role("button", name="Load all").click()
    expect(page.get_by_role("button", name="Show more of 4.0 MiB")).to_be_visible()
    screenshot(page, "hostile-long")
    publish("document.ErrorBanner", {"waiting": 0})
    expect(ios.get_by_role("alert")).to_be_empty()

    # The page can still be used.
    publish("document.Playlists", {"playlists": [{**playlist("Calm"), "id": "NordicCalm"}]})
    ios.get_by_role("button", name="Calm").click()
    # The service's own document would replace the next one if it came later.
    expect(ios.get_by_text("Mørketid")).to_be_visible()
    publish("document.GeneratedPlaylist", generated(MARKUP))
    expect(ios.get_by_text("<img src=x").first).to_be_visible()
    seen(page, "finished")
    assert elements(page) == before, f"{elements(page)} instead of {before}"
    assert page.evaluate("window.hacked") is None and not dialogs


class Attacker(http.server.BaseHTTPRequestHandler):
    """An empty page of another origin."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>Attacker</title>")

    def log_message(self, *_) -> None:
        pass


@contextlib.contextmanager
def attacker():
    """The port of a server with the attacker's page."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Attacker)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_port
    finally:
        server.shutdown()


# What a page can try without the consent of the gateway. Each attempt returns what it has got; nothing, if refused.
ATTEMPTS = {
    "a text": """url => fetch(`${url}/api/messages`, { method: 'POST', mode: 'no-cors', credentials: 'include',
        headers: { 'Content-Type': 'text/plain' }, body: '{"type":"event.Attack","data":{}}' })
        .then(answer => answer.type === 'opaque' ? null : answer.status, () => null)""",
    "a request with the header": """url => fetch(`${url}/api/messages`, { method: 'POST', credentials: 'include',
        headers: { 'Content-Type': 'application/json', 'X-Segue': '1' }, body: '{"type":"event.Attack","data":{}}' })
        .then(answer => answer.status, () => null)""",
    "reading": """url => fetch(`${url}/api/types`, { credentials: 'include' }).then(answer => answer.text(), () => null)""",
    "a stream": """url => new Promise(resolve => {
        const source = new EventSource(`${url}/api/stream/attack-1`, { withCredentials: true })
        source.onopen = () => resolve('open')
        source.onerror = () => { source.close(); resolve(null) }
    })""",
    "an image": """url => new Promise(resolve => {
        const image = new Image()
        image.onload = () => resolve('loaded')
        image.onerror = () => resolve(null)
        image.src = `${url}/icon.svg`
        document.body.append(image)
    })""",
    "a script": """url => new Promise(resolve => {
        const script = document.createElement('script')
        script.onload = () => resolve('loaded')
        script.onerror = () => resolve(null)
        script.src = `${url}/app.js`
        document.body.append(script)
    })""",
}


def check_attacks(page) -> None:
    url = page.evaluate("location.origin")
    port = url.rsplit(":", 1)[1]
    with attacker() as other:
        # For cookies, another port is the same site: the browser sends the cookie of the gateway there.
        for origin in (f"http://127.0.0.1:{other}", f"http://attacker.localhost:{other}"):
            evil = page.context.new_page()
            evil.goto(origin)
            for name, attempt in ATTEMPTS.items():
                got = evil.evaluate(attempt, url)
                assert got is None, f"{name} from {origin}: {got}"
            # What the gateway has answered to a text, which the browser keeps from the attacker and from the script.
            answer = page.context.request.post(
                f"{url}/api/messages", headers={"Origin": origin, "Content-Type": "text/plain", "X-Segue": "1"},
                data='{"type":"event.Attack","data":{}}')
            assert answer.status == 403 and answer.json()["error"]["code"] == "origin", answer.text()

            # A frame with the page: a click in it would be a click of the person.
            evil.evaluate("""url => new Promise(resolve => {
                const frame = document.createElement('iframe')
                frame.onload = resolve
                frame.src = url
                document.body.append(frame)
            })""", url)
            assert not evil.frames[1].url.startswith(url), f"framed by {origin}"
            # A form needs no script and no consent. Its answer is a page.
            with evil.expect_navigation():
                evil.evaluate("""url => {
                    const form = document.createElement('form')
                    Object.assign(form, { method: 'POST', enctype: 'text/plain', action: `${url}/api/messages` })
                    const field = document.createElement('input')
                    field.name = '{"type":"event.Attack","data":{"x":"'
                    field.value = '"}}'
                    form.append(field)
                    document.body.append(form)
                    form.submit()
                }""", url)
            expect(evil.get_by_text("a page of another origin sent this request")).to_be_visible()
            evil.close()

    # A name of the attacker that resolves to this machine.
    rebound = page.context.new_page()
    answer = rebound.goto(f"http://attacker.localhost:{port}/")
    assert answer.status == 403, answer.status
    expect(rebound.get_by_text("this server has no such host")).to_be_visible()
    rebound.close()

    rows = page.evaluate("""() => fetch('/api/messages?selection=' + encodeURIComponent('{"types":["event.Attack"]}'))
        .then(answer => answer.json()).then(page => page.rows)""")
    assert rows == [], rows


def check_sign_in(page) -> None:
    answer = page.context.request.get(page.evaluate("location.origin"))
    policy = answer.headers["content-security-policy"]
    for directive in ("default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "form-action 'none'"):
        assert directive in policy, policy
    assert "unsafe" not in policy, policy
    cookies = page.context.cookies()
    assert len(cookies) == 1 and cookies[0]["httpOnly"] and cookies[0]["sameSite"] == "Strict", cookies
    assert page.evaluate("document.cookie") == ""

    # A link signs one browser in, and no other; without a link a browser sees nothing.
    link = step("link")
    for is_first in (True, False):
        other = page.context.browser.new_context()
        guest = other.new_page()
        assert guest.goto(page.evaluate("location.origin")).status == 401
        guest.goto(f"file://{link}")
        expected = guest.get_by_text("live", exact=True) if is_first else guest.get_by_text("This link was used before")
        expect(expected).to_be_visible()
        other.close()


with open_page() as page:
    log_in(page)
    show(page, "#/messages")
    check_messages(page)
    check_attacks(page)
    check_sign_in(page)
    # The page has not noticed any of it.
    expect(page.get_by_text("live", exact=True)).to_be_visible()
