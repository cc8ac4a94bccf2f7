import Testing

/// The product as its users see it: real processes, real sockets, real kills.
///
/// One test runs at a time, because each of them starts a whole kernel and measures what it does.
@Suite(.serialized, .timeLimit(.minutes(2)))
enum EndToEnd {}
