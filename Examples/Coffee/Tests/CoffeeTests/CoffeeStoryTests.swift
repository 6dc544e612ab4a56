import Coffee
import Contracts
import EventBus
import SegueTestSupport
import Testing

@Suite("The coffee bar, as real processes")
struct CoffeeStoryTests {
    @Test("A coffee is ordered, made and taken, and the screens follow")
    func story() async throws {
        try await TestStack.with(file: PackageFile.path("compose.yaml")) { stack in
            try await stack.bus.send(Command.CoffeeOrdered(kind: "lungo"))
            try await stack.message(DomainEvent.CoffeeServed.self) { $0.kind == "lungo" }
            try await stack.shows("cup", after: 2)
            try await stack.bus.send(Command.CoffeeTaken())
            try await stack.shows("menu", after: 3)
        }
    }

    @Test("A coffee that nobody makes leads back to the menu, and a banner says what there is")
    func unknown() async throws {
        try await TestStack.with(file: PackageFile.path("compose.yaml")) { stack in
            try await stack.bus.send(Command.CoffeeOrdered(kind: "tea"))
            try await stack.document(Document.ErrorBanner.self) { $0.error?.message == "There is no tea here." }
            try await stack.shows("menu", after: 2)
        }
    }

    @Test("Who kills the barista gets the coffee from the next one")
    func killed() async throws {
        try await TestStack.with(file: PackageFile.path("compose.yaml")) { stack in
            try await stack.killAndRestart("barista")
            try await stack.bus.send(Command.CoffeeOrdered(kind: "espresso"))
            try await stack.shows("cup", after: 2)
        }
    }
}

extension TestStack {
    /// Waits until the navigation state has the revision `steps` and the top screen `screen`.
    fileprivate func shows(
        _ screen: String, after steps: Int, fileID: StaticString = #fileID, line: UInt = #line
    ) async throws {
        try await document(Document.NavigationState.self, key: "counter", fileID: fileID, line: line) {
            $0.snapshot.state.top.screen == screen && $0.snapshot.revision == steps
        }
    }
}
