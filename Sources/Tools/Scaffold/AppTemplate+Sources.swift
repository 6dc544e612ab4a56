/// The Swift sources of a new app.
extension AppTemplate {
    /// The messages without which the service and the flows say nothing.
    static let messages: [(words: [String], summary: String)] = [
        (["command.ItemSelected", "itemID:String"], "The user selects an item of the list."),
        (["command.PurchaseRequested", "itemID:String"], "The user buys an item."),
        (["event.ItemBought", "itemID:String"], "The user has bought an item."),
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
            package static let handlers = Handlers("\(service)")
                .on(DomainEvent.LaunchFinished.self, sends: Document.Items.self) { _, context in
                    [try await items(in: context)]
                }
                .on(
                    Command.PurchaseRequested.self, sends: Document.Items.self, DomainEvent.ItemBought.self
                ) { purchase, context in
                    var items = try await items(in: context)
                    try items.sell(purchase.itemID)
                    return [items, DomainEvent.ItemBought(itemID: purchase.itemID)]
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
                #expect(machine.state.top.arguments == ["itemID": "lamp"])
                try machine.handle(Command.ItemSelected(itemID: "lamp"))
                #expect(machine.state.standing.count == 2)
            }

            @Test(
                "After the purchase of its item, a phone shows the list, and a desktop still the item",
                arguments: [("ios", "list"), ("mac", "item")])
            func purchase(platform: String, screen: String) throws {
                var machine = try machine(platform)
                try machine.handle(Command.ItemSelected(itemID: "lamp"))
                try machine.handle(DomainEvent.ItemBought(itemID: "chair"))
                #expect(machine.state.top.screen == "item")
                try machine.handle(DomainEvent.ItemBought(itemID: "lamp"))
                #expect(machine.state.top.screen == screen)
            }

            private func machine(_ platform: String) throws -> Machine {
                let file = PackageFile.path("flows/\\(platform).yaml")
                return Machine(flow: try Flow(yaml: String(contentsOfFile: file, encoding: .utf8), file: file))
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
            @Test("An item is selected and bought, and the screens of both platforms follow")
            func story() async throws {
                try await TestStack.with(file: PackageFile.path("compose.yaml")) { stack in
                    try await stack.bus.publish(DomainEvent.LaunchFinished())
                    try await stack.document(Document.Items.self) { $0.items == Document.Items.initial.items }
                    try await stack.bus.send(Command.ItemSelected(itemID: "lamp"))
                    try await stack.shows("item", on: "ios")
                    try await stack.shows("item", on: "mac")
                    try await stack.bus.send(Command.PurchaseRequested(itemID: "lamp"))
                    try await stack.document(Document.Items.self) { $0.items.first?.isSold == true }
                    try await stack.shows("list", on: "ios")
                }
            }

            @Test("An item that does not exist is not sold, and a banner says so")
            func unavailable() async throws {
                try await TestStack.with(file: PackageFile.path("compose.yaml")) { stack in
                    try await stack.bus.send(Command.PurchaseRequested(itemID: "piano"))
                    try await stack.document(Document.ErrorBanner.self) { $0.error?.code == "item.unavailable" }
                }
            }

            @Test("A service that is killed continues with what is on the bus")
            func killed() async throws {
                try await TestStack.with(file: PackageFile.path("compose.yaml")) { stack in
                    try await stack.bus.publish(DomainEvent.LaunchFinished())
                    try await stack.document(Document.Items.self) { $0.items.first?.isSold == false }
                    try await stack.killAndRestart("\(service)")
                    try await stack.bus.send(Command.PurchaseRequested(itemID: "lamp"))
                    try await stack.document(Document.Items.self) { $0.items.first?.isSold == true }
                }
            }
        }

        extension TestStack {
            /// Waits until `screen` is the top screen of a platform. A failure names the line of the caller.
            fileprivate func shows(
                _ screen: String, on platform: String, fileID: StaticString = #fileID, line: UInt = #line
            ) async throws {
                try await document(
                    Document.NavigationState.self, key: platform, fileID: fileID, line: line
                ) { $0.snapshot.state.top.screen == screen }
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
