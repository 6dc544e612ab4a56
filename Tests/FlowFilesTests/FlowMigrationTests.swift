import FlowFiles
import Navigation
import Support
import Testing

@Suite("Replacing old forms in a flow file")
struct FlowMigrationTests {
    private func yaml(_ actions: String, extra: String = "") -> String {
        """
        name: shop   # the shop
        version: 1
        platform: ios
        start: list
        screens: { list: , item: , basket: }
        transitions:
          - on: event.Shown
            do: [{ show: { screen: item, column: detail } }]
          - on: event.Done   # naïve 🍵
            do:
        \(actions.split(separator: "\n").map { "      \($0)" }.joined(separator: "\n"))
        \(extra)
        """
    }

    private func migrated(_ yaml: String) throws -> FlowMigration {
        try FlowMigration(of: FlowReading(yaml: yaml, file: "shop.yaml"))
    }

    @Test("Old forms are replaced, comments and layout stay, and the flow is the same")
    func replaced() throws {
        let old = yaml(
            """
            - pop: list   # back
            - { "pop": { to: basket, column: detail } }
            - pop: { to: sender }
            """)
        let text = old.replacing("\"pop\"", with: "pop")
        let migration = try migrated(text)
        #expect(
            migration.yaml
                == yaml(
                    """
                    - popTo: list   # back
                    - { popTo: { screen: basket, column: detail } }
                    - pop: { from: sender }
                    """))
        #expect(try Flow(yaml: migration.yaml, file: "") == Flow(yaml: text, file: ""))
        #expect(migration.changes.map { $0.line } == [11, 12, 13])
        #expect(try migrated(migration.yaml).changes.isEmpty)
        // A quoted key is not at its place.
        #expect(throws: FlowError.self) { try migrated(old) }
    }

    @Test("A dollar sign before a value is written anew, unless the file accepts it as a text")
    func dollarSigns() throws {
        let old = yaml(
            """
            - push: { screen: item, arguments: { price: "$${data.price}", note: "$$${data.x} $${x}" } }
            """)
        let migration = try migrated(old)
        #expect(migration.yaml == old.replacing("\"$${data.price", with: "\"$$${data.price"))
        #expect(migration.changes.map(\.line) == [11])
        let accepted = "# check: allow escaped-template, a text\n" + old
        #expect(try migrated(accepted).yaml == accepted)
    }

    @Test("A flow with errors is not changed")
    func errors() {
        #expect(throws: FlowError.self) { try migrated(yaml("- push: nowhere")) }
    }
}
