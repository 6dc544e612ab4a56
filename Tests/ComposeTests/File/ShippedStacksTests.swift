import Foundation
import Testing

@testable import Compose

@Suite("Shipped stacks")
struct ShippedStacksTests {
    private func stack(_ name: String, environment: [String: String] = [:]) throws -> Stack {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        return try ComposeFile(path: root.appending(path: "compose/\(name)").path, environment: environment).stack
    }

    @Test("The default stack needs no setting, and both its services use the simulator")
    func standard() throws {
        let stack = try stack("default.yaml")
        #expect(
            Set(stack.services.map(\.name)) == [
                "broker", "ios-coordinator", "mac-coordinator", "error-notifier", "auth-service", "music-service",
                "spotify-simulator", "web",
            ])
        #expect(stack.ports == ["spotify", "web"])
        for service in stack.services {
            #expect(stack.awaitsReadiness(of: service))
            #expect(service.restart == .onFailure(limit: nil))
        }
        for name in ["auth-service", "music-service"] {
            let service = try #require(stack.services.first { $0.name == name })
            #expect(service.environment["SPOTIFY_API_URL"] == "http://127.0.0.1:${SEGUE_PORT_SPOTIFY}")
            #expect(Set(service.dependencies.map(\.service)) == ["broker", "spotify-simulator"])
        }
    }

    @Test("The examples need no setting, and each has its own platform")
    func examples() throws {
        let stack = try stack("examples.yaml")
        let names = stack.services.map(\.name)
        for name in ["broker", "onboarding-coordinator", "onboarding-service", "three-screens-coordinator"] {
            #expect(names.contains(name))
        }
        for service in stack.services {
            #expect(stack.awaitsReadiness(of: service))
            #expect(service.restart == .onFailure(limit: nil))
        }
        let coordinators = stack.services.filter { $0.command.first == "navigation-coordinator" }
        #expect(Set(coordinators.map(\.command.last)).count == coordinators.count)
    }

    @Test("The stack for the real Spotify equals the default one without the simulator, and needs a client id")
    func real() throws {
        let stack = try stack("spotify.yaml", environment: ["SPOTIFY_CLIENT_ID": "mine"])
        let simulated = try self.stack("default.yaml").services.filter { $0.name != "spotify-simulator" }
        #expect(stack.services.map(\.name) == simulated.map(\.name))
        #expect(stack.services.map(\.command) == simulated.map(\.command))
        #expect(stack.services.first { $0.name == "auth-service" }?.environment["SPOTIFY_CLIENT_ID"] == "mine")

        let error = #expect(throws: ComposeFileError.self) { try self.stack("spotify.yaml") }
        #expect(error?.mistakes.count == 1)
        #expect(error?.mistakes.first?.message.contains("required variable 'SPOTIFY_CLIENT_ID' has no value") == true)
    }
}
