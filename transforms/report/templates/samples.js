// Pages, filters and sorts the sample pairs. Without it, all of them stand one below the other.
// The page is XML, too: neither an ampersand nor a "less than" may stand here.
(function () {
  "use strict";
  var SIZE = 10;

  function enhance(list) {
    var controls = list.querySelector(".controls");
    var groups = Array.from(list.querySelectorAll(".group"));
    var pairs = Array.from(list.querySelectorAll("article"));
    var homes = pairs.map(function (pair) { return pair.parentNode; });
    var flat = list.appendChild(document.createElement("div"));
    var first = 0;

    function field(name) { return controls.querySelector("." + name); }
    function value(name) { return field(name) ? field(name).value : ""; }

    function fits(pair) {
      var wanted = value("wanted").trim().toLowerCase();
      var least = Number(value("tags"));
      return [
        pair.textContent.toLowerCase().includes(wanted),
        [pair.dataset.corpus, ""].includes(value("corpus")),
        [pair.dataset.reason, ""].includes(value("reason")),
        Number(pair.dataset.tags || 0) >= least
      ].every(Boolean);
    }

    function sorted(found) {
      var by = field("order");
      if (!by) { return found; }
      var chosen = by.options[by.selectedIndex];
      var sign = chosen.dataset.down ? -1 : 1;
      function key(pair) {
        var said = pair.dataset[chosen.value];
        return said === undefined ? Infinity : sign * Number(said);
      }
      return found.slice().sort(function (one, other) {
        return key(one) - key(other) || one.dataset.place - other.dataset.place;
      });
    }

    function show() {
      var found = sorted(pairs.filter(fits));
      first = Math.max(0, Math.min(first, SIZE * Math.ceil(found.length / SIZE - 1)));
      var page = found.slice(first, first + SIZE);
      pairs.forEach(function (pair, place) {
        homes[place].appendChild(pair);
        pair.hidden = !page.includes(pair);
      });
      groups.forEach(function (group) {
        group.hidden = Boolean(field("order")) || !group.querySelector("article:not([hidden])");
      });
      if (field("order")) { flat.replaceChildren.apply(flat, page); }
      var from = found.length ? first + 1 : 0;
      field("status").textContent = from + " to " + (first + page.length) + " of " + found.length;
      field("back").disabled = first === 0;
      field("on").disabled = first + SIZE >= found.length;
    }

    function turn(pages) {
      return function () {
        first += pages * SIZE;
        show();
      };
    }

    function again() {
      first = 0;
      show();
    }

    field("back").addEventListener("click", turn(-1));
    field("on").addEventListener("click", turn(1));
    controls.addEventListener("input", again);
    controls.hidden = false;
    show();
  }

  document.querySelectorAll(".samples").forEach(enhance);
}());
