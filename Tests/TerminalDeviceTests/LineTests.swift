import Device
import Support
import Testing

@testable import TerminalDevice

@Suite("Lines of a terminal")
struct LineTests {
    private static let url = "https://accounts.example/authorize?client_id=a&scope=b%20c&state=d-e_f~g"

    /// The texts and the targets of a line's hyperlinks.
    private func links(_ lines: [Line]) -> [(target: String, text: String)] {
        lines.flatMap { line in
            line.hyperlinked.description
                .matches(of: #/\u{1B}\]8;id=segue;([\x21-\x7E]+)\u{1B}\\([^\u{1B}]*)\u{1B}\]8;;\u{1B}\\/#)
                .map { (String($0.1), String($0.2)) }
        }
    }

    @Test("A URL is broken at the width, and each piece is a link to the whole", arguments: [1, 5, 10, 20, 39, 71])
    func pieces(width: Int) {
        let lines = Line("see \(Self.url) now").wrapped(to: width)
        #expect(lines.allSatisfy { $0.text.count <= width })
        let links = links(lines)
        #expect(links.count >= Self.url.count / width)
        #expect(links.map(\.text).joined() == Self.url)
        #expect(links.allSatisfy { $0.target == Self.url })
    }

    @Test("A URL that fits stays on its line, and a line without a URL is cut visibly")
    func fitting() {
        #expect(Line("url: \(Self.url)").fitted(to: 100).map(\.text) == ["url: \(Self.url)"])
        #expect(Line("url: \(Self.url)").fitted(to: 40).map(\.text).joined() == "url:\(Self.url)")
        #expect(Line("a name that is long").fitted(to: 10).map(\.text) == ["a name th…"])
    }

    @Test("A URL in a file is whole, and the file has no control sequences")
    func plain() {
        #expect(Line("Open \(Self.url)").text == "Open \(Self.url)")
    }

    @Test("Two URLs are two links, and the words between them are not")
    func two() {
        let links = links([Line("(https://a.b/c), see spotify:track:1 and HTTP://d.e.")])
        #expect(links.map(\.target) == ["https://a.b/c", "spotify:track:1", "HTTP://d.e"])
        #expect(links.map(\.text) == links.map(\.target))
    }

    @Test(
        "A URL that must not be opened is not a link, and no text adds an escape sequence",
        arguments: [
            "file:///etc/passwd", "javascript:alert(1)", "data:text/html,x", "xhttps://a.b", "https://", "-o/tmp/x",
            "https://a.b/\u{1B}]8;;https://evil.example\u{1B}\\", "https://a.b/\u{7}x", "https://a.b/\u{9C}x",
            "https://a.b/\u{202E}gro", "https://a.b/\u{200B}x", "https://a\u{0}.b",
        ])
    func sanitising(text: String) {
        let lines = Line("see \(text)").wrapped(to: 12)
        let drawn = lines.map(\.hyperlinked.description).joined()
        #expect(!drawn.unicodeScalars.contains { $0.properties.generalCategory == .control })
    }

    @Test("A link's target is ASCII, whatever is shown")
    func encoded() {
        let links = links([Line("https://a.b/ü?q=日本")])
        #expect(links.map(\.target) == ["https://a.b/%C3%BC?q=%E6%97%A5%E6%9C%AC"])
        #expect(links.map(\.text) == ["https://a.b/ü?q=日本"])
        // The encoded URL shows that the host contains a letter that is not ASCII.
        #expect(OpenableURL("https://\u{430}pple.com")?.text.hasPrefix("https://xn--") == true)
    }

    @Test("A URL that is too long for a link is shown whole, and an excessive one as text")
    func length() {
        let long = "https://a.b/" + String(repeating: "x", count: 3000)
        let lines = Line("Open \(long)").fitted(to: 80)
        #expect(lines.map(\.text).joined() == "Open\(long)")
        #expect(lines.allSatisfy { $0.hyperlinked.description == $0.text })
        #expect(OpenableURL("https://a.b/" + String(repeating: "x", count: 8192)) == nil)
        #expect(Line("https://a.b/ " + String(repeating: "x", count: 20_000)).fitted(to: 80).count == 1)
    }

    @Test("Wide characters take two columns, and combining ones none", arguments: 1...12)
    func wide(width: Int) {
        let text = "音楽を選ぶ 👩‍👩‍👧 e\u{301}a\u{300}"
        let lines = Line(text).wrapped(to: width)
        #expect(lines.map(\.text).joined().filter { $0 != " " } == text.filter { $0 != " " })
        #expect(lines.allSatisfy { $0.text.map(\.columns).reduce(0, +) <= max(width, 2) })
        #expect("e\u{301}".map(\.columns) == [1] && "楽".map(\.columns) == [2] && "👩‍👩‍👧".map(\.columns) == [2])
        #expect(Line("音楽を選ぶ").fitted(to: 6).map(\.text) == ["音楽…"])
    }

    @Test("Items are shown whole or not at all, and the last one and the last with a URL stay")
    func elision() {
        let link = Line("https://a.b/c/d/e/f").wrapped(to: 8)
        let items = (1...9).map { [Line("\($0)")] } + [link] + (10...12).map { [Line("\($0)")] }
        let shown = items.elided(to: 8) { "… \($0) more" }
        #expect(shown.map(\.text) == ["1", "2", "3", "… 8 more", "https://", "a.b/c/d/", "e/f", "12"])
        let least = ["… 11 more", "https://", "a.b/c/d/", "e/f", "12"]
        #expect(items.elided(to: 1) { "… \($0) more" }.map(\.text) == least)
        #expect([link].elided(to: 1) { "… \($0) more" } == link)
        #expect(items.elided(to: 15) { _ in "" }.count == 15)
    }
}
