import Testing

@testable import Compose

@Suite("Selection of services")
struct StackSelectionTests {
    /// The example in the compose specification (15-profiles).
    private let text = """
        services:
          foo: {command: x}
          bar: {command: x, profiles: [test]}
          baz: {command: x, depends_on: [bar], profiles: [test]}
          zot: {command: x, depends_on: [bar], profiles: [debug]}
        """

    private func names(_ services: [String] = [], profiles: [String] = []) throws -> [String] {
        try readCompose(text).stack.selecting(services, profiles: profiles).services.map(\.name)
    }

    @Test("The selection has the services of the active profiles")
    func profiles() throws {
        #expect(try names() == ["foo"])
        #expect(try names(profiles: ["test"]) == ["foo", "bar", "baz"])
        #expect(try names(profiles: ["debug", "test"]) == ["foo", "bar", "baz", "zot"])
        #expect(try names(profiles: ["*"]) == ["foo", "bar", "baz", "zot"])
    }

    @Test("The selection has the named services, with their profiles and dependencies")
    func named() throws {
        #expect(try names(["bar"]) == ["bar"])
        #expect(try names(["baz"]) == ["bar", "baz"])
        #expect(try names(["zot"], profiles: ["test"]) == ["bar", "zot"])
    }

    @Test("Only the env files of selected services are needed")
    func environmentFiles() throws {
        let text = """
            services:
              foo: {command: x}
              bar: {command: x, profiles: [test], env_file: missing.env}
            """
        let stack = try readCompose(text).stack
        #expect(try stack.selecting().services.map(\.name) == ["foo"])
        let error = #expect(throws: ComposeError.self) { try stack.selecting(profiles: ["test"]) }
        #expect(
            error?.description
                == "c.yaml:3: cannot read the file 'missing.env'; write 'required: false' if it may be missing")
        #expect(throws: ComposeError.self) { try stack.selecting(["bar"]) }
        let always = mistakes { try readCompose(text.replacing(" profiles: [test],", with: "")) }
        #expect(always.count == 1)
    }

    @Test("A selection without a required dependency is refused")
    func inactive() throws {
        for (services, profiles) in [([], ["debug"]), (["zot"], [])] {
            let error = #expect(throws: ComposeError.self) { try names(services, profiles: profiles) }
            #expect(error?.code == "inactive-dependency")
            #expect(error?.message == "service 'zot' depends on 'bar', which has no active profile")
        }
        let optional = text.replacing("[bar], profiles: [debug]", with: "{bar: {required: false}}, profiles: [debug]")
        let zot = try readCompose(optional).stack.selecting(["zot"]).services
        #expect(zot.map(\.name) == ["zot"] && zot[0].dependencies.isEmpty)
    }

    @Test("A selection of an unknown service is refused")
    func unknown() {
        let error = #expect(throws: ComposeError.self) { try names(["bat"]) }
        #expect(error?.code == "unknown-service" && error?.recovery == "did you mean 'bar'?")
    }
}
