import Navigation
import TestSupport
import Testing

@Suite("URL patterns")
struct URLPatternTests {
    private func values(_ pattern: String, _ url: String) throws -> [String: String]? {
        try URLPattern(pattern).values(in: url)
    }

    @Test(
        "A URL that matches gives the decoded values",
        arguments: [
            ("focus://playlist/{id}", "focus://playlist/p1", ["id": "p1"]),
            ("focus://playlist/{id}", "FOCUS://PlayList/P1/", ["id": "P1"]),
            ("focus://playlist/{id}", "focus://playlist/a%2Fb%3Fc%20%C3%BC", ["id": "a/b?c ü"]),
            ("focus://playlist/{id}", "focus://playlist/ü", ["id": "ü"]),
            ("focus://playlist/{id}", "focus://playlist/a+b", ["id": "a+b"]),
            ("focus://playlist/{id}", "focus://playlist/p1?utm=x#top", ["id": "p1"]),
            ("focus://playlist/{id}", "focus://playlist/x/../p1/.", ["id": "p1"]),
            ("focus://playlist/{id}?theme={theme}", "focus://playlist/p1", ["id": "p1"]),
            ("focus://playlist/{id}?theme={t}", "focus://playlist/p1?a&theme=a%26b&theme=c", ["id": "p1", "t": "a&b"]),
            ("focus://playlist/{id}?theme={t}", "focus://playlist/p1?theme", ["id": "p1", "t": ""]),
            ("focus://list?mode=edit", "focus://list?x&mode=edit", [:]),
            ("https://example.org/@{user}/{id}.html", "https://example.org:443/@jo/7.html", ["user": "jo", "id": "7"]),
            ("focus:playlist/{id}", "focus:/playlist/p1", ["id": "p1"]),
            ("focus://play%20list/", "focus://play%20list", [:]),
        ] as [(String, String, [String: String])])
    func matches(pattern: String, url: String, expected: [String: String]) throws {
        #expect(try values(pattern, url) == expected)
    }

    @Test(
        "A placeholder never spans segments, and no other character matches instead",
        arguments: [
            "focus://playlist/a/b", "focus://playlist/", "focus://playlist//", "focus://playlists/p1",
            "other://playlist/p1", "focus://me@playlist/p1", "focus://playlist:80/p1", "focus://playlist/p1/..",
            "focus://playlist/a/\u{301}b", "focus://playlist/%zz", "focus://playlist/%C3", "focus://playlist/%2",
            "focus://playlist/a b", "focus://playlist/..", "focus://playlist/%2E%2E", "playlist/p1", "", ":", "focus:",
            "focus://playlist/" + String(repeating: "a", count: 9000),
        ])
    func mismatches(url: String) throws {
        #expect(try values("focus://playlist/{id}", url) == nil)
        #expect(try values("focus://playlist/{id}?mode=edit", "focus://playlist/p1?mode=view") == nil)
    }

    @Test("A URL is made in normal form, with all reserved characters encoded")
    func made() throws {
        let pattern = try URLPattern("Focus://PlayList/{id}?mode=edit&theme={theme}")
        #expect(pattern.url(with: ["id": "a/b ü?"]) == "focus://playlist/a%2Fb%20%C3%BC%3F?mode=edit")
        #expect(pattern.url(with: ["id": "p", "theme": "&="]) == "focus://playlist/p?mode=edit&theme=%26%3D")
        #expect(pattern.url(with: ["theme": "x"]) == nil)
        for id in ["", ".", "..", String(repeating: "ü", count: 2000)] { #expect(pattern.url(with: ["id": id]) == nil) }
        #expect(try URLPattern("focus:list").url(with: [:]) == "focus:list")
    }

    @Test("A URL that is made of any values gives the same values", arguments: 0..<200)
    func thereAndBack(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let patterns = [
            "focus://playlist/{a}?x={b}", "focus:{a}/is/{b}", "https://example.org/@{a}.html/-{b}-?q=1&c={c}",
        ]
        let pattern = try URLPattern(patterns.randomElement(using: &random) ?? "")
        let letters = "a Z / ? # % & = + ü { } .. @ 🎧".split(separator: " ").map(String.init) + [" ", "\u{301}", "\0"]
        func word() -> String {
            let length = Int.random(in: 1...4, using: &random)
            return (0..<length).map { _ in letters.randomElement(using: &random) ?? "" }.joined()
        }
        for _ in 0..<20 {
            var values: [String: String] = [:]
            for name in pattern.required { values[name] = word() }
            for name in pattern.optional where Bool.random(using: &random) { values[name] = word() }
            guard let url = pattern.url(with: values) else {
                #expect(values.values.contains(".."))
                continue
            }
            #expect(pattern.values(in: url) == values, "\(url)")
            #expect(pattern.values(in: url).flatMap { pattern.url(with: $0) } == url)
        }
    }

    @Test(
        "An invalid pattern is refused with a reason",
        arguments: [
            ("playlist/{id}", "must begin with a scheme"),
            ("focus://playlist/{id}#top", "cannot have a fragment"),
            ("focus://{id}", "the host of a link's URL cannot contain '{…}'"),
            ("focus://me@playlist", "the host of a link's URL cannot contain '{…}'"),
            ("focus://playlist/{id", "'{id' in a link's URL is invalid"),
            ("focus://playlist/id}", "'id}' in a link's URL is invalid"),
            ("focus://playlist/{}", "'{}' in a link's URL is invalid"),
            ("focus://playlist/{a}{b}", "'{a}{b}' in a link's URL is invalid"),
            ("focus://playlist/100%", "'100%' in a link's URL is invalid"),
            ("focus://playlist//x", "'//' in a link's URL is invalid"),
            ("focus://playlist/../x", "'..' in a link's URL is invalid"),
            ("focus://playlist?{id}", "'{id}' in a link's URL is invalid"),
            ("focus://playlist?id=x{id}", "query parameter 'id' mixes fixed text and '{…}'"),
            ("focus://playlist/{id}?id={id}", "'{id}' occurs twice"),
        ])
    func refused(pattern: String, reason: String) {
        let problem = #expect(throws: URLPattern.Problem.self) { try URLPattern(pattern) }
        #expect(problem?.description.contains(reason) == true, "\(String(describing: problem))")
    }
}
