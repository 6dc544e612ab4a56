import BusSoak
import EventBus
import Foundation
import Testing

@Suite("When the disk is full", .enabled(if: Namespace.isAllowed, "namespaces of one's own are not allowed here"))
struct FullDiskTests {
    @Test("the publisher is told, nothing acknowledged is lost, and it goes on when there is room again")
    func fullDisk() async throws {
        try await Arena.with { arena in
            let disk = "\(arena.directory)/disk"
            try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: false)
            // What makes room is larger than all that waits to be moved from the WAL into the file: with less the disk
            // would be full again at once.
            let script = """
                mount -t tmpfs -o size=12m none \(disk) && head -c 8000000 /dev/zero > \(disk)/filler \
                && exec "$0" --bus \(arena.bus) --journal \(disk)/journal.sqlite
                """
            let command = Namespace.command + ["sh", "-c", script, Namespace.broker]
            let broker = try await arena.start("broker", command)
            try await arena.withBus { bus in
                let text = String(repeating: "x", count: 20_000)
                var acknowledged = 0
                let error = await #expect(throws: BusError.self) {
                    while true {
                        try await bus.publish(Noted(text: text))
                        acknowledged += 1
                    }
                }
                #expect(error?.code == .journal)
                #expect(acknowledged > 10)
                try FileManager.default.removeItem(atPath: "/proc/\(try await broker.pid)/root\(disk)/filler")
                var last = false
                while !last {
                    do {
                        try await bus.publish(Noted(text: "last"))
                        last = true
                    } catch let error as BusError where error.code == .journal {
                        // It was told before the room was found: that is what trying again is for.
                    }
                }
                let count = try await bus.withSubscription(to: [.type(Noted.self)], from: .beginning) { messages in
                    var count = 0
                    for try await message in messages {
                        if try message.decode(Noted.self).text == "last" { break }
                        count += 1
                    }
                    return count
                }
                // One that was refused may be there all the same; none that was acknowledged may be missing.
                #expect(count >= acknowledged)
            }
        }
    }
}
