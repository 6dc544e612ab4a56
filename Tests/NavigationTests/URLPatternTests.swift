import Navigation
import Support
import TestSupport
import Testing

@Suite("URL patterns")
struct URLPatternTests {
    private func values(_ pattern: String, _ url: String) throws -> [String: JSONValue]? {
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
            ("tea://brew/{m:integer}?strong={s:boolean}", "tea://brew/5?strong=true", ["m": 5, "s": true]),
            ("tea://brew/{m:integer}?strong={s:boolean}", "tea://brew/-5", ["m": -5]),
            ("tea://brew/{m:number}min", "tea://brew/2.5min", ["m": 2.5]),
            ("tea://brew/{m:number}", "tea://brew/%35", ["m": 5]),
            ("tea:{m:string}", "tea:5", ["m": "5"]),
            ("shop://list/{page?:integer}", "shop://list/", [:]),
            ("shop://list/{page?:integer}", "shop://list/2", ["page": 2]),
            ("shop://list/{page?}?q={q}", "shop://list?q=?", ["q": "?"]),
            ("shop://docs/{path...}", "shop://docs/a/%C3%BC/c%3Fd/", ["path": "a/ü/c?d"]),
            ("shop:{path...}", "shop:a//b", ["path": "a//b"]),
            ("shop://{path...}", "SHOP://Nowhere/A/b?x=1#top", ["path": "nowhere/A/b"]),
            ("shop://{path...}", "shop:///a", ["path": "/a"]),
            ("shop://{path...}", "shop://me@host:8080/a/../b", ["path": "me@host:8080/b"]),
        ] as [(String, String, [String: JSONValue])])
    func matches(pattern: String, url: String, expected: [String: JSONValue]) throws {
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

    @Test(
        "A text that JSON does not write for the type of its placeholder does not match",
        arguments: [
            (
                "integer",
                ["05", "+5", "5.0", "-0", "5e1", " 5", "٥", "9007199254740992", "99999999999999999999", "0x5"]
            ),
            (
                "number",
                ["05", "+5", "5.0", "-0", "1e400", "nan", "inf", "0x1p3", "1.", ".5", "9007199254740993", "1e300"]
            ),
            ("boolean", ["True", "1", "yes", "tru", "trueé"]),
        ])
    func uncanonical(type: String, texts: [String]) throws {
        let pattern = try URLPattern("tea:{v:\(type)}?w={w:\(type)}")
        let good = ["integer": "5", "number": "5.5", "boolean": "false"][type] ?? ""
        for text in texts {
            #expect(pattern.values(in: "tea:\(text)") == nil, "\(text)")
            #expect(pattern.values(in: "tea:\(good)?w=\(text)") == nil, "\(text)")
        }
        #expect(pattern.values(in: "tea:\(good)?w=") == nil)
        #expect(
            pattern.values(in: "tea:\(good)?w=\(good)").flatMap { pattern.url(with: $0) } == "tea:\(good)?w=\(good)")
        #expect(pattern.url(with: ["v": "x"]) == nil)
        #expect(pattern.url(with: ["v": .string(good)]) == "tea:\(good)")
    }

    @Test(
        "A rest has at least one segment, and none that another URL would divide",
        arguments: [
            "shop://docs", "shop://docs/", "shop://docs//", "shop://docs/a%2Fb", "shop://docs/a/..", "shop://x/a",
        ])
    func noRest(url: String) throws {
        #expect(try values("shop://docs/{path...}", url) == nil)
    }

    @Test("A URL is made of a rest only if it gives the same rest")
    func madeOfRest() throws {
        let docs = try URLPattern("shop://docs/{path...}")
        #expect(docs.url(with: ["path": "a/ü/?"]) == "shop://docs/a/%C3%BC/%3F")
        for rest in ["", "/", "a/", "a/../b", "..", "a/."] { #expect(docs.url(with: ["path": .string(rest)]) == nil) }
        let any = try URLPattern("shop://{path...}")
        #expect(any.url(with: ["path": "nowhere/A"]) == "shop://nowhere/A")
        for rest in ["Nowhere", "", "a/../b", "x:/a"] { #expect(any.url(with: ["path": .string(rest)]) == nil) }
        let list = try URLPattern("shop://list/{page?:integer}")
        #expect(list.url(with: [:]) == "shop://list")
        #expect(list.url(with: ["page": 3]) == "shop://list/3")
    }

    @Test("A long URL with very many segments or parameters is matched or not, without a trap")
    func hostile() throws {
        let patterns = try [
            "shop://{p...}", "shop:a/{p...}", "shop:a/{n?:integer}", "shop://x/{n:number}?n={m:integer}",
        ]
        .map { try URLPattern($0) }
        let digits = String(repeating: "9", count: 8000)
        let urls = [
            "shop:" + String(repeating: "/a", count: 4000), "shop:" + String(repeating: "/", count: 8000),
            "shop:a" + String(repeating: "/..", count: 2700), "shop:a/\(digits)", "shop://x/\(digits)",
            "shop://x/1.\(digits)", "shop://x/1e\(digits)", "shop://x/1?" + String(repeating: "n=1&", count: 2000),
            "shop:a/" + String(repeating: "%2F", count: 2600), "shop:a/%F", "shop:a/%FF%FE", "shop://%00/%00",
            "shop:a/" + String(repeating: "a", count: 9000), "shop:{p...}", "shop:a/{n?:integer}", "shop:a/?{",
        ]
        for url in urls {
            for pattern in patterns {
                guard let values = pattern.values(in: url), let made = pattern.url(with: values) else { continue }
                #expect(pattern.values(in: made) == values)
                #expect(made.utf8.count <= 8192)
            }
        }
    }

    @Test("A URL is made in normal form, with all reserved characters encoded")
    func made() throws {
        let pattern = try URLPattern("Focus://PlayList/{id}?mode=edit&theme={theme}")
        #expect(pattern.url(with: ["id": "a/b ü?"]) == "focus://playlist/a%2Fb%20%C3%BC%3F?mode=edit")
        #expect(pattern.url(with: ["id": "p", "theme": "&="]) == "focus://playlist/p?mode=edit&theme=%26%3D")
        #expect(pattern.url(with: ["theme": "x"]) == nil)
        for id in ["", ".", "..", String(repeating: "ü", count: 2000)] {
            #expect(pattern.url(with: ["id": .string(id)]) == nil)
        }
        #expect(try URLPattern("focus:list").url(with: [:]) == "focus:list")
    }

    @Test("No URL is made with a host that a URL cannot name", arguments: ["a%2Fb", "a%20b", "a%2541", "a%3Fb"])
    func unwritable(host: String) throws {
        let pattern = try URLPattern("https://\(host)/{id}")
        #expect(pattern.url(with: ["id": "x"]) == nil)
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
            var values: [String: JSONValue] = [:]
            for name in pattern.required { values[name] = .string(word()) }
            for name in pattern.optional where Bool.random(using: &random) { values[name] = .string(word()) }
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
            (
                "focus://playlist/{id:int}",
                "unknown type 'int' in the link's URL; known: boolean, integer, number, string"
            ),
            ("focus://playlist/{id:}", "unknown type ''"),
            ("focus://playlist/{id...:integer}", "'{id...:integer}' in a link's URL is invalid"),
            ("focus://playlist/{id?}/x", "'{id}' has '?' or '...' and is not the whole last segment"),
            ("focus://playlist/x{id?}", "'{id}' has '?' or '...'"),
            ("focus://playlist/{id...}.html", "'{id}' has '?' or '...'"),
            ("focus://playlist?id={id?}", "'{id}' has '?' or '...'"),
            ("focus://{id...}/x", "'{id}' has '?' or '...'"),
            ("https://{id...}", "the host of a link's URL cannot contain '{…}'"),
            ("focus://playlist/{?}", "'{?}' in a link's URL is invalid"),
        ])
    func refused(pattern: String, reason: String) {
        let problem = #expect(throws: URLPattern.Problem.self) { try URLPattern(pattern) }
        #expect(problem?.description.contains(reason) == true, "\(String(describing: problem))")
    }
}
