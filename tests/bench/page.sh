#!/bin/sh
# SPDX-License-Identifier: MIT
# The page of a sweep: whole, self-contained, and as it should be in a browser, light and dark, wide and narrow. The
# screenshots stay in tests/bench of the build folder: page-light.png and so on, to look at.
# shellcheck source=tests/policy/tap.sh
. "${srcdir:-.}/tests/policy/tap.sh"
not_under_tsan 'the page of a sweep'

page=$scratch/report/index.html
# A name that would break a page that escapes too little, and a shell that quotes too little.
corpus="$scratch/<b>&amp;\"it's\`.txt"
i=0
while test $i -lt 3000; do
	echo "name_$((i * 7919 % 1000))_of_a_string_$((i % 613))"
	i=$((i + 1))
done >"$corpus"

made() {
	bench/cistern-sweep --quick --corpus "$corpus" --threads 1,2 --report "$scratch/report" \
		>"$scratch/out" 2>"$scratch/err" || cat "$scratch/err"
	tail -n 1 "$scratch/err" | grep -qx "the page is $page" || echo 'it does not say where the page is'
	for file in index.html sweep.csv sweep.json plots.gp; do
		test -s "$scratch/report/$file" || echo "no $file"
	done
}
expect 'a report is written' made

# "Nothing external": no address, no script, no file but the page itself.
alone() {
	grep -noiE 'https?:|<script|<link|<iframe|<img|<object|<embed|@import|src=|javascript:| on[a-z]+=' "$page"
	grep -noE 'url\([^)]*\)' "$page" | grep -v 'url(#'
	grep -oE 'href=.[^ >]*' "$page" | grep -v '^href=.#'
	true
}
expect 'the page needs nothing from elsewhere' alone

escaped() {
	grep -n '<b>&' "$page"
	grep -qF '&lt;b&gt;&amp;amp;&quot;it&#39;s' "$page" || echo 'the name of the corpus is not there'
	# The command to repeat it, as a shell reads it back.
	grep -qF "&lt;b&gt;&amp;amp;&quot;it&#39;\\&#39;&#39;s\`.txt&#39;" "$page" || echo 'the command is quoted wrongly'
}
expect 'names are escaped' escaped

# As it was typed: no path is completed, nothing is added.
typed() {
	grep -q '^<pre><code>bench/cistern-sweep --quick --corpus .* --threads 1,2 --report [^ ]*</code></pre>$' "$page" ||
		grep '<pre><code>' "$page"
}
expect 'the command is there as it was given' typed

# What a reader has to know first: the same remarks as among the results, in a box each.
boxes() {
	grep -q '^<p class="box">3000 strings: too few to choose by speed\.</p>$' "$page" || echo 'nothing of few strings'
	sed -n 's|^<p class="box">\(.*\)</p>$|# \1|p' "$page" >"$scratch/boxes"
	grep '^# \(The machine was busy\|Speeds differ\|[0-9]* strings: too few\)' "$scratch/report/sweep.csv" |
		cmp - "$scratch/boxes"
	# Rounds that differ by half, from a file of --resume that was changed.
	two="bench/cistern-sweep --count 10000 --rounds 2 --pass-ms 1 --threads 1 --shards 1,64 --slab-size 64K"
	$two --resume "$scratch/rows" >"$scratch/out" 2>"$scratch/err" || cat "$scratch/err"
	awk -F , -v OFS=, '
		/^round,/ { for (i = 1; i <= NF; i++) at[$i] = i }
		/^[0-9]/ { for (name in at) if (name ~ /_m_s$/) $at[name] = $1 % 2 ? 15 : 10 }
		{ print }' "$scratch/rows" >"$scratch/scattered"
	$two --resume "$scratch/scattered" --report "$scratch/busy" >"$scratch/out" 2>"$scratch/err" || cat "$scratch/err"
	grep -qi '^<p class="box">.*speeds differ by [2-5][0-9]% between rounds.*</p>$' "$scratch/busy/index.html" ||
		echo 'nothing of speeds that scatter'
	grep -qi '^# .*speeds differ by [2-5][0-9]% between rounds' "$scratch/out" || echo 'nor among the results'
	! grep -q 'too few to choose' "$scratch/busy/index.html" || echo '10000 strings are few'
}
expect 'how far to trust it stands in a box' boxes

ids() {
	grep -oE " id=['\"][^'\"]*" "$page" | cut -c 6- | sort >"$scratch/ids"
	uniq -d "$scratch/ids" | sed 's/$/ is there twice/'
	grep -oE "href=['\"]#[^'\"]*" "$page" | cut -c 8- | sort -u | comm -13 "$scratch/ids" - |
		sed 's/$/ is referred to and not there/'
}
expect 'ids are unique, and there where they are referred to' ids

balanced() {
	for element in section figure div table svg g text details dl code pre main; do
		opened=$(grep -oE "<${element}[ >]" "$page" | wc -l)
		closed=$(grep -o "</$element>" "$page" | wc -l)
		test "$opened" -eq "$closed" || echo "<$element>: $opened opened, $closed closed"
	done
}
expect 'elements are closed' balanced

# browse OPTION...: the page in a browser that knows nothing of whoever runs the test.
browse() {
	rm -rf "$scratch/profile"
	HOME=$scratch timeout 120 "$chromium" --headless --no-sandbox --disable-gpu --disable-quic \
		--no-first-run --disable-background-networking --disable-component-update --disable-sync \
		--disable-dev-shm-usage --hide-scrollbars --user-data-dir="$scratch/profile" "$@" 2>"$scratch/err"
}

# look NAME WIDTH SCHEME: a screenshot, and what the browser makes of it. The page has no scripts; a copy gets one.
look() {
	browse --window-size="$2",1600 --blink-settings=preferredColorScheme="$3" \
		--screenshot="$PWD/tests/bench/page-$1.png" "file://$page"
	test -s "tests/bench/page-$1.png" || echo 'no screenshot'
	{
		cat "$page"
		cat <<'SCRIPT'
<script>
const said = [];
const lightness = color => { const c = color.match(/\d+/g).map(Number); return (c[0] + c[1] + c[2]) / 765; };
const dark = lightness(getComputedStyle(document.body).backgroundColor) < 0.5;
said.push('scheme ' + (dark ? 'dark' : 'light'));
const pictures = [...document.querySelectorAll('figure')];
said.push('figures ' + pictures.length);
said.push('pictures ' + document.querySelectorAll('figure svg').length);
const inside = (a, b) => b.left <= a.left && b.right >= a.right && b.top <= a.top && b.bottom >= a.bottom;
const overlap = (a, b) => a.left + 1 < b.right && b.left + 1 < a.right && a.top + 2 < b.bottom && b.top + 2 < a.bottom;
for (const figure of pictures) {
	const caption = figure.querySelector('figcaption').textContent;
	const pictured = [...figure.querySelectorAll('svg')];
	if (!pictured.length)
		said.push('missing: ' + caption);
	for (const svg of pictured) {
		const label = svg.getAttribute('aria-label'), box = svg.getBoundingClientRect();
		const texts = [...svg.querySelectorAll('text')].filter(text => text.textContent.trim());
		const boxes = texts.map(text => text.getBoundingClientRect());
		if (box.width < 200 || box.height < 100)
			said.push('too small: ' + label);
		else if (texts.length < 8)
			said.push('empty: ' + label);
		if (box.right > innerWidth)
			said.push('does not fit: ' + label);
		if (!label || label.includes('`'))
			said.push('no label to read out: ' + label);
		texts.forEach((text, i) => {
			const fill = lightness(getComputedStyle(text).fill);
			const onCell = [...svg.querySelectorAll('polygon')].some(cell => inside(boxes[i], cell.getBoundingClientRect()));
			if (!onCell && (dark ? fill < 0.5 : fill > 0.5))
				said.push('illegible: ' + text.textContent + ' in ' + label);
			if (!inside(boxes[i], {left: box.left - 1, right: box.right + 1, top: box.top - 1, bottom: box.bottom + 1}))
				said.push('cut off: ' + text.textContent + ' in ' + label);
			for (let k = 0; k < i; k++)
				if (overlap(boxes[i], boxes[k]))
					said.push('one on the other: ' + texts[k].textContent + ' and ' + text.textContent + ' in ' + label);
		});
	}
}
if (document.documentElement.scrollWidth > innerWidth)
	said.push('wider than the window: ' + document.documentElement.scrollWidth + ' of ' + innerWidth);
const result = document.createElement('pre');
result.textContent = 'BEGIN\n' + said.join('\n') + '\nEND';
document.body.append(result);
</script>
SCRIPT
	} >"$scratch/scripted.html"
	browse --window-size="$2",1600 --blink-settings=preferredColorScheme="$3" --dump-dom \
		"file://$scratch/scripted.html" | sed -n '/BEGIN$/,/^END/p' >"$scratch/said"
	wanted=light
	test "$3" -eq 1 || wanted=dark
	grep -qx "scheme $wanted" "$scratch/said" || echo "not $wanted"
	grep -q '^END' "$scratch/said" || cat "$scratch/err"
	# The front, maps of memory and of three speeds, and three over threads.
	grep -qx 'figures 8' "$scratch/said" || grep figures "$scratch/said"
	# In a figure of maps one for each engine and, of speeds, number of threads.
	maps=$(grep -c 'aria-label=.[^"]*, [12] threads\?"' "$page")
	test "$maps" -eq 14 || echo "$maps maps"
	grep -vE '^(scheme|figures|pictures) |BEGIN|^END' "$scratch/said"
	true
}

chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
mkdir -p tests/bench
for view in light:1200:1 dark:1200:0 narrow:400:1; do
	name=${view%%:*} rest=${view#*:}
	if ! have gnuplot; then
		skip "the page in a browser, $name" 'no gnuplot'
	elif test -z "$chromium"; then
		skip "the page in a browser, $name" 'no chromium'
	else
		expect "the page in a browser, $name" look "$name" "${rest%:*}" "${rest#*:}"
	fi
done

without_gnuplot() {
	mkdir -p "$scratch/none"
	# shellcheck disable=SC2123 # that nothing is found is the point
	(
		PATH=/nonexistent
		export PATH
		bench/cistern-sweep --quick --report "$scratch/none" >"$scratch/out" 2>"$scratch/err"
	) || cat "$scratch/err"
	grep -q 'This picture could not be drawn' "$scratch/none/index.html" || echo 'the page does not say it'
}
expect 'without gnuplot there is a page nevertheless' without_gnuplot
finish
