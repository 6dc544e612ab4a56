/// The Swift sources of a new app.
extension AppTemplate {
    /// The messages without which the service and the flows say nothing.
    static let messages: [(words: [String], summary: String)] = [
        (["command.ItemSelected", "itemID:String"], "The user selects an item of the list."),
        (["command.PurchaseRequested", "itemID:String"], "The user buys an item."),
        (["event.ItemBought", "itemID:String"], "The user has bought an item."),
        (
            ["command.RestockDue", "itemID:String"],
            "The service sends this command to itself when it has an item again."
        ),
    ]

    static let items = """
        import Contracts
        import EventBus

        extension Document {
            /// The items that the screens show.
            package struct Items: DocumentMessage {
                package struct Item: Codable, Hashable, Sendable {
                    package var id: String
                    package var name: String
                    package var isSold = false
                }

                package var items: [Item]

                package init(items: [Item]) {
                    self.items = items
                }
            }
        }

        """

    var serviceSource: String {
        """
        import Consuming
        import Contracts
        import EventBus

        /// Sells items. The service does not depend on screens: the flows decide which screen is shown.
        package enum \(serviceType) {
            /// The time after which a sold item is available again. It is short because a test waits for it.
            private static let restockTime: Duration = .seconds(5)

            package static let handlers = Handlers("\(service)")
                .on(DomainEvent.LaunchFinished.self, sends: Document.Items.self) { _, context in
                    [try await items(in: context)]
                }
                .on(
                    Command.PurchaseRequested.self,
                    sends: Document.Items.self, DomainEvent.ItemBought.self, Command.RestockDue.self
                ) { purchase, context in
                    var items = try await items(in: context)
                    try items.sell(purchase.itemID)
                    return [
                        items, DomainEvent.ItemBought(itemID: purchase.itemID),
                        // It is sent once, even if every process is killed meanwhile.
                        .later(
                            Command.RestockDue(itemID: purchase.itemID), after: restockTime, id: purchase.itemID),
                    ]
                }
                .on(Command.RestockDue.self, sends: Document.Items.self) { restock, context in
                    var items = try await items(in: context)
                    items.restock(restock.itemID)
                    return [items]
                }

            /// The items of the message's session. The document is the only state of the service.
            private static func items(in context: MessageContext) async throws -> Document.Items {
                try await context.document(Document.Items.self) ?? .initial
            }
        }

        extension Document.Items {
            /// The items of a new session.
            package static let initial = Document.Items(items: [
                Item(id: "lamp", name: "A lamp"), Item(id: "chair", name: "A chair"),
            ])

            /// - Throws: `ApplicationError` if the item does not exist or is sold already. The error notifier
            ///   shows this error over every screen.
            package mutating func sell(_ id: String) throws {
                guard let index = items.firstIndex(where: { $0.id == id && !$0.isSold }) else {
                    throw ApplicationError(
                        code: "item.unavailable", message: "The item '\\(id)' is not available.",
                        recovery: "Choose another item.")
                }
                items[index].isSold = true
            }

            package mutating func restock(_ id: String) {
                guard let index = items.firstIndex(where: { $0.id == id }) else { return }
                items[index].isSold = false
            }
        }

        """
    }
}

// MARK: - The tests

extension AppTemplate {
    var flowTests: String {
        """
        \(Imports.plain(["Contracts", "EventBus", "FlowFiles", "Foundation", "Navigation", module, "Testing"]))

        @Suite("The flows, without processes")
        struct FlowTests {
            @Test("A selected item is shown, and shown only once", arguments: ["ios", "mac"])
            func selection(platform: String) throws {
                var machine = try machine(platform)
                try machine.handle(Command.ItemSelected(itemID: "lamp"))
                #expect(machine.state.top.screen == "item")
                #expect(machine.state.top.arguments["itemID"] == "lamp")
                let count = machine.state.open.count
                try machine.handle(Command.ItemSelected(itemID: "lamp"))
                #expect(machine.state.open.count == count)
            }

            @Test("A phone shows an item until it is bought")
            func purchase() throws {
                var machine = try machine("ios")
                try machine.handle(Command.ItemSelected(itemID: "lamp"))
                try machine.handle(DomainEvent.ItemBought(itemID: "chair"))
                #expect(machine.state.open.contains { $0.screen == "item" })
                try machine.handle(DomainEvent.ItemBought(itemID: "lamp"))
                #expect(machine.state.top.screen != "item")
            }

            /// A machine that shows the list, whatever screen the flow starts with.
            private func machine(_ platform: String) throws -> Machine {
                let file = PackageFile.path("flows/\\(platform).yaml")
                let flow = try Flow(yaml: String(contentsOfFile: file, encoding: .utf8), file: file)
                var snapshot = Machine(flow: flow).snapshot
                snapshot.state.root.instance.screen = "list"
                return Restoration(snapshot, flow: flow).machine
            }
        }

        extension Machine {
            fileprivate mutating func handle(_ message: some Message) throws {
                _ = handle(try #require(Machine.Input(Envelope(message, source: "test"))))
            }
        }

        """
    }

    var storyTests: String {
        """
        \(Imports.plain(["Contracts", "EventBus", "SegueTestSupport", module, "Testing"]))

        @Suite("The app, as real processes")
        struct StoryTests {
            private let item = Document.Items.initial.items[0]

            @Test("Both platforms show the chosen item, and the phone returns to the list when it is bought")
            func story() async throws {
                try await TestStack.with(file: PackageFile.path("compose.yaml")) { stack in
                    try await stack.bus.publish(DomainEvent.LaunchFinished())
                    for platform in ["ios", "mac"] { try await stack.screen("list", on: platform) }
                    try await stack.bus.send(Command.ItemSelected(itemID: item.id))
                    for platform in ["ios", "mac"] {
                        try await stack.screen("item(itemID: \\(item.id))", on: platform)
                    }
                    try await stack.bus.send(Command.PurchaseRequested(itemID: item.id))
                    try await stack.message(DomainEvent.ItemBought.self) { $0.itemID == item.id }
                    try await stack.screen("list", on: "ios")
                }
            }

            @Test("An item that does not exist is not sold, and a banner says so")
            func unavailable() async throws {
                try await TestStack.with(file: PackageFile.path("compose.yaml")) { stack in
                    try await stack.bus.send(Command.PurchaseRequested(itemID: "none"))
                    try await stack.document(Document.ErrorBanner.self) { $0.error?.code == "item.unavailable" }
                }
            }

            @Test("A sold item is available again later, although the service is killed meanwhile")
            func killed() async throws {
                try await TestStack.with(file: PackageFile.path("compose.yaml")) { stack in
                    try await stack.bus.send(Command.PurchaseRequested(itemID: item.id))
                    let bought = try await stack.message(DomainEvent.ItemBought.self).envelope
                    try await stack.killAndRestart("\(service)")
                    try await stack.message(Document.Items.self, after: bought) { $0.items.contains(item) }
                }
            }
        }

        """
    }

    static let packageFile = """
        import Foundation

        /// The paths of files of this package, independent of the working directory.
        enum PackageFile {
            static func path(_ name: String, from file: String = #filePath) -> String {
                URL(filePath: file).appending(path: "../../../\\(name)").standardizedFileURL.path
            }
        }

        """
}
