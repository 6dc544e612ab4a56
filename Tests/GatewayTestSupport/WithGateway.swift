package import EventBus
internal import Foundation
internal import HTTPClient
package import PageTestSupport
internal import SignIn
package import TestSupport
internal import WebDevice
internal import WebInspector
package import WebPage

/// Runs `body` with a gateway in this process, and a browser that has signed in.
package func withGateway<Result: Sendable>(
    _ bus: EventBus = EventBus.inMemory(source: "web-gateway/1"), log: LogRecorder = LogRecorder(),
    _ change: (inout Gateway.Configuration, ScratchFolder) throws -> Void = { _, _ in },
    _ body: @escaping @Sendable (PageClient) async throws -> Result
) async throws -> Result {
    let scratch = try ScratchFolder()
    defer { scratch.remove() }
    let gateway = try gateway(in: scratch, bus, log: log, change)
    let folder = PageFolder(scratch.path("web"))
    return try await withRunning(gateway) {
        try await HTTPClient.with { http in try await body(try await PageClient.signIn(http, folder)) }
    }
}

/// A gateway with all features, whose files are in a folder.
package func gateway(
    in scratch: ScratchFolder, _ bus: EventBus = EventBus.inMemory(source: "web-gateway/1"),
    log: LogRecorder = LogRecorder(),
    _ change: (inout Gateway.Configuration, ScratchFolder) throws -> Void = { _, _ in }
) throws -> Gateway {
    try FileManager.default.createDirectory(atPath: scratch.path("page"), withIntermediateDirectories: true)
    try "<!doctype html><html lang=\"en\"><title>Page</title>".write(
        toFile: scratch.path("page/index.html"), atomically: true, encoding: .utf8)
    try "export const a = 1;".write(toFile: scratch.path("page/a.js"), atomically: true, encoding: .utf8)
    var configuration = Gateway.Configuration(folder: PageFolder(scratch.path("web")))
    configuration.page = scratch.path("page")
    try change(&configuration, scratch)
    return try Gateway(configuration, bus: bus, logger: log.logger) {
        [PageDevices($0, screens: nil), Inspector($0)]
    }
}
