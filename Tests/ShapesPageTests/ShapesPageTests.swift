import Contracts
import EventBus
import Foundation
import Logging
import Navigation
import Support
import TestSupport
import Testing

@Suite("The program of docs/deploying.md")
struct ShapesPageTests {
    @Test("An order leads to a cup, and the app has the same cup when it runs again")
    func app() async throws {
        let scratch = try ScratchFolder()
        defer { scratch.remove() }
        let file = scratch.url.appending(path: "coffee.json")
        let cup = try await running(file) { bus in
            try await bus.send(Command.CoffeeOrdered(kind: "lungo"))
            return try await top(of: bus) { $0.screen == "cup" }
        }
        #expect(cup?.arguments == ["kind": "lungo"])
        let next = try await running(file) { bus in
            try await bus.send(Command.CoffeeOrdered(kind: "doppio"))
            let former = try await bus.document(Document.NavigationState.self, key: "counter")?.snapshot.state.path
                .first
            #expect(former == cup)
            return try await top(of: bus) { $0.arguments == ["kind": "doppio"] }
        }
        #expect(next?.screen == "cup" && next?.id != cup?.id)
    }

    /// Runs the app while `body` runs, and saves its state at the end.
    private func running(
        _ file: URL, _ body: @escaping @Sendable (EventBus) async throws -> ScreenInstance?
    ) async throws -> ScreenInstance? {
        let app = try CoffeeApp(file: file)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { do { try await app.run() } catch is CancellationError {} }
            let result = try await body(EventBus.inMemory(source: "view/1", hub: app.hub))
            group.cancelAll()
            try await group.waitForAll()
            try await app.save()
            return result
        }
    }

    /// Waits until the screen in front satisfies a condition.
    private func top(
        of bus: EventBus, _ fits: (ScreenInstance) -> Bool
    ) async throws -> ScreenInstance? {
        try await bus.withSubscription(to: [.type(Document.NavigationState.self)], from: .retained) { messages in
            for try await message in messages {
                let top = try message.decode(Document.NavigationState.self).snapshot.state.top
                if fits(top) { return top }
            }
            return nil
        }
    }
}
