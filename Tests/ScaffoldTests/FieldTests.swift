import Testing

@testable import Scaffold

@Suite("Input for new files")
struct FieldTests {
    @Test(
        "A field has a name, a type, and a value of it for a test",
        arguments: [
            ("cups:Int", "1", "1"), ("note: String?", "nil", nil), ("tags:[String]", #"["some"]"#, #"["some"]"#),
            ("strong:Bool", "true", "true"), ("litres:Double", "0.5", "0.5"),
            ("at:Date", "Date(timeIntervalSince1970: 0)", #""1970-01-01T00:00:00.000Z""#),
        ])
    func field(text: String, sample: String, json: String?) throws {
        let field = try Field(text)
        #expect(field.sample == sample)
        #expect(field.json == json)
    }

    @Test(
        "An invalid field is refused with the notation",
        arguments: [
            "cups", "cups:", ":Int", "Cups:Int", "cups:Data", "cups:[Int", "cups:?", "a b:Int", "cups:Int; x",
            "self:Int",
        ])
    func noField(text: String) {
        let error = #expect(throws: ScaffoldError.self) { try Field(text) }
        #expect(error?.message == "'\(text)' is not a field")
    }

    @Test("A field can have a Swift keyword as its name, duplicates are refused, and a command has no answer")
    func names() throws {
        let message = try MessageTemplate(MessageShape(["command.Play", "repeat:Bool", "in:Int?"]))
        let lines = ["var `repeat`: Bool", "init(`repeat`: Bool, `in`: Int? = nil)", "self.`repeat` = `repeat`"]
        let source = message.source(hasInternalImports: false)
        for line in lines { #expect(source.contains(line), "\(source)") }
        #expect(try Field("`repeat`: Bool") == Field("repeat:Bool"))
        #expect(throws: ScaffoldError.self) { try Field.list(["x:Int", "x:Bool"]) }
        #expect(throws: ScaffoldError.self) {
            try MessageTemplate(MessageShape(["command.A"]), answer: Field.list(["x:Int"]))
        }
    }

    @Test(
        "A message is a command, an event, a document or a query",
        arguments: ["Foo", "command.foo", "news.Foo", "error.Foo", "command.Type"])
    func message(text: String) {
        #expect(throws: ScaffoldError.self) { try MessageName(text) }
    }

    @Test("A service's name must be valid for an executable", arguments: ["Roaster", "roaster_2", "-x", "../x", ""])
    func service(name: String) throws {
        let (receives, sends) = (try MessageShape(["command.A"]), try MessageShape(["event.B"]))
        #expect(throws: ScaffoldError.self) { try ServiceTemplate(name, receives: receives, sends: sends) }
        #expect(throws: ScaffoldError.self) { try ServiceTemplate("x", receives: sends, sends: receives) }
    }
}
