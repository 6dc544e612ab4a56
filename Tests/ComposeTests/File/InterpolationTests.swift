import Testing

@testable import Compose

@Suite("Interpolation of variables")
struct InterpolationTests {
    static let environment = ComposeEnvironment(["SET": "value", "EMPTY": "", "A_1": "one"])

    @Test(
        "Every form of the specification is expanded",
        arguments: [
            ("plain", "plain"), ("a$$\u{301}", "a$\u{301}"), ("${SET}\u{301}", "value\u{301}"),
            ("${NONE:-\u{301}d}", "\u{301}d"), ("$SET", "value"), ("${SET}", "value"), ("a${SET}b", "avalueb"),
            ("$A_1-x", "one-x"),
            ("$$SET", "$SET"), ("$$$$", "$$"), ("$${SET}", "${SET}"), ("$NONE.", "."), ("${NONE}", ""),
            ("${SET:-d}", "value"), ("${EMPTY:-d}", "d"), ("${NONE:-d}", "d"),
            ("${SET-d}", "value"), ("${EMPTY-d}", ""), ("${NONE-d}", "d"),
            ("${SET:+other}", "other"), ("${EMPTY:+other}", ""), ("${EMPTY+other}", "other"), ("${NONE+other}", ""),
            ("${SET:?no}", "value"), ("${EMPTY?no}", ""),
            ("${NONE:-${SET}}", "value"), ("${NONE:-${EMPTY:-${A_1}}}", "one"), ("${NONE:-a b:c}", "a b:c"),
            ("${SET:-${NONE:?unused}}", "value"), ("${NONE:-$$x}", "$x"), ("${SET:-{\"a\":1}}", "value"),
            ("${NONE:-{\"a\":{\"b\":\"${SET}\"}}}.", "{\"a\":{\"b\":\"value\"}}."),
        ]
    )
    func expands(text: String, expected: String) throws {
        var interpolation = Interpolation(environment: Self.environment)
        #expect(try interpolation.expand(text) == expected)
    }

    @Test(
        "A reference that cannot be expanded is refused with the reason",
        arguments: [
            ("${NONE:?give it}", "required variable 'NONE' has no value: give it"),
            ("${EMPTY:?}", "required variable 'EMPTY' has no value"),
            ("${NONE:-${EMPTY:?deep}}", "required variable 'EMPTY' has no value: deep"),
            ("${SET", "'${SET' is not closed, or has an unknown operator"),
            ("${SET!x}", "'${SET' is not closed, or has an unknown operator"),
            ("${}", "'${' is not followed by a variable's name"),
            (nested(33), "references are nested more than 32 levels deep"),
            (nested(100_000), "references are nested more than 32 levels deep"),
            (String(nested(100_000).dropLast(100_000)), "references are nested more than 32 levels deep"),
            ("100$", "a lone '$' is not a variable reference (write '$$' for a dollar sign)"),
        ]
    )
    func refuses(text: String, message: String) {
        var interpolation = Interpolation(environment: Self.environment)
        #expect(throws: Interpolation.Failure(message: message)) { try interpolation.expand(text) }
    }

    private static func nested(_ levels: Int) -> String {
        String(repeating: "${NONE:-", count: levels) + "x" + String(repeating: "}", count: levels)
    }

    @Test("References nest up to the limit of 32 levels")
    func deep() throws {
        var interpolation = Interpolation(environment: Self.environment)
        #expect(try interpolation.expand(Self.nested(32)) == "x")
        #expect(Interpolation.references(in: Self.nested(32)).count == 32)
        #expect(Interpolation.references(in: Self.nested(100)).count == 1)
    }

    @Test("Only an unset variable without a default is warned of")
    func unset() throws {
        var interpolation = Interpolation(environment: Self.environment)
        _ = try interpolation.expand("$NONE ${OTHER:-x} ${EMPTY} ${SET:-$UNUSED} ${EMPTY:-$USED}")
        #expect(interpolation.unset == ["NONE", "USED"])
    }

    @Test(
        "A variable of the supervisor counts as set, and is expanded later by the supervisor",
        arguments: [
            ("http://127.0.0.1:$OFFERED/", "http://127.0.0.1:${OFFERED}/"), ("${OFFERED}", "${OFFERED}"),
            ("${OFFERED:-d}", "${OFFERED}"), ("${OFFERED:?no}", "${OFFERED}"), ("${OFFERED:+other}", "other"),
            ("${NONE:-http://${OFFERED}}", "http://${OFFERED}"), ("$$OFFERED", "$OFFERED"),
        ]
    )
    func offered(text: String, expected: String) throws {
        var interpolation = Interpolation(environment: ComposeEnvironment(["OFFERED": "hidden"]), offered: ["OFFERED"])
        #expect(try interpolation.expand(text) == expected)
        #expect(interpolation.unset.isEmpty)
    }
}
