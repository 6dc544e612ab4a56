internal import ZeroMQ

/// The sockets of a program that uses libzmq and nothing else, around a proxy with XSUB and XPUB.
enum BareSockets {
    /// Unlimited queues: what drops at the default limits moves no faster.
    static let options: [SocketOption] = [.linger(0), .sendHighWaterMark(0), .receiveHighWaterMark(0)]
    static let frameSize = 4096

    static func publisher(_ directory: String) throws -> Socket {
        let socket = try Socket(.pub, options: options)
        try socket.connect(publishing(directory))
        return socket
    }

    static func subscriber(_ directory: String, topic: String) throws -> Socket {
        let socket = try Socket(.sub, options: options + [.subscribe(topic)])
        try socket.connect(subscribing(directory))
        return socket
    }

    static func publishing(_ directory: String) -> String { "ipc://\(directory)/in" }
    static func subscribing(_ directory: String) -> String { "ipc://\(directory)/out" }
}
